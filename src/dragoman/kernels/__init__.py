"""What a GPU does, written in Triton, which comes with PyTorch for GPUs.

No kernel is imported before a GPU needs it, nor checked for types: Triton compiles the source, and
needs a C compiler for that. Compiled trainings ask for one; a search does without if there is none.
"""

import importlib.util

HAS_TRITON = importlib.util.find_spec("triton") is not None
"""PyTorch for GPUs brings it along, except on Windows."""
