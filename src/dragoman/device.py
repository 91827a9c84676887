"""Where tensors live: the device that a user names."""

import torch

from dragoman.config import DragomanError


def choose_device(name: str = "auto") -> torch.device:
    """Resolve the name of a device; `auto` takes a GPU, or the CPU without one.

    Raises:
        DragomanError: there is no such device on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DragomanError(f"device {name!r}: write auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DragomanError(f"device {name!r}: PyTorch finds no GPU here; write auto or cpu")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise DragomanError(
            f"device {name!r}: PyTorch finds no such device here; write auto or cpu"
        ) from None
    return device
