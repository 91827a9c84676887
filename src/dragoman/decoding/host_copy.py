"""Reading from a GPU while it computes."""

import torch
from torch import Tensor


class HostCopy:
    """A copy of a tensor on the host, which a GPU makes before it does what it is told later.

    What is on the host already is not copied, and for other devices the host waits at once.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._is_made = None
        if not tensor.is_cuda:
            self._copy = tensor.cpu()
            return
        self._copy = torch.empty_like(tensor, device="cpu", pin_memory=True)
        self._copy.copy_(tensor, non_blocking=True)
        self._is_made = torch.cuda.current_stream(tensor.device).record_event()

    def wait(self) -> Tensor:
        """Return the copy once it is made."""
        if self._is_made is not None:
            self._is_made.synchronize()
        return self._copy
