"""A clean stop: signals are remembered, and looked at where nothing is half done."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from torch import nn

from dragoman.training.distributed import rank

STOPPING = b"\nstopping and saving"
ONCE_MORE = b"; Ctrl-C once more ends at once and loses what is not saved"
"""Not so under `torchrun`, which does not pass it on."""

STANDARD_ERROR = 2


class StoppedError(Exception):
    """A signal came during work that can be begun again."""


@contextmanager
def left_when_stopped(module: nn.Module, received: Sequence[int]) -> Iterator[None]:
    """Leave a block when a module is about to compute and a signal has come.

    What runs in the block need not know of signals. It is left between two computations and
    never within one, as it would be by an exception that the signal itself raises.

    Args:
        module: Used often in the block, for each batch at least.
        received: The signals that have come.

    Raises:
        StoppedError: one has come.
    """

    def look(module: nn.Module, arguments: Any) -> None:
        if received:
            raise StoppedError

    hook = module.register_forward_pre_hook(look)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def stop_on_signals() -> Iterator[Sequence[int]]:
    """Collect signals instead of dying of them; the second SIGINT kills as ever.

    The first SIGINT is answered: an update or a block of a validation may take a while to end.

    SIGHUP comes when the terminal is closed; `nohup` has it ignored, and so it stays.
    """
    received: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if number == signal.SIGINT and rank() == 0:
            once_more = b"" if "TORCHELASTIC_RUN_ID" in os.environ else ONCE_MORE
            # Past Python's buffers, in whose midst the signal may have come.
            with suppress(OSError):
                os.write(STANDARD_ERROR, STOPPING + once_more + b"\n")
        signal.signal(signal.SIGINT, signal.default_int_handler)

    caught = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        caught.append(signal.SIGHUP)
    previous = {number: signal.signal(number, remember) for number in caught}
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
