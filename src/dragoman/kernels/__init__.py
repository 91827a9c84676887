"""What a GPU does, written in Triton, which comes with PyTorch for GPUs.

Nothing here is imported before a GPU needs it, nor checked for types: Triton compiles the source.
"""
