"""Where a model is trained."""

import torch

from dragoman.device import choose_device
from dragoman.training.distributed import local_rank


def device_of_process(name: str) -> torch.device:
    """Resolve the name of a device; `auto` and `cuda` give each process a GPU of its own.

    Raises:
        DragomanError: there is no such device on this machine.
    """
    if name == "cuda" or (name == "auto" and torch.cuda.is_available()):
        name = f"cuda:{local_rank()}"
    return choose_device(name)
