"""A clean stop: signals are remembered, and acted on where nothing is half done."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any

from torch import nn
from torch.distributed import is_torchelastic_launched

from dragoman.exit_codes import INTERRUPTED
from dragoman.training.distributed import rank

STOPPING = b"\nstopping and saving"
ONCE_MORE = b"; Ctrl-C once more ends at once and loses what is not saved"
"""Not so under `torchrun`, which does not pass it on."""

SHOW_CURSOR = b"\x1b[?25h"
"""The progress bar of a training has hidden it."""

STANDARD_ERROR = 2

NO_SIGNAL = b"\0"
"""Sent after the last one; a closed pipe would go unnoticed while a forked process has it open."""


class StoppedError(Exception):
    """A signal came during work that can be started again."""


def raise_when_stopped(module: nn.Module, received: Sequence[int]) -> None:
    """Have a module raise `StoppedError` when it is about to compute and a signal has come.

    Whatever calls it often need not know about signals. It is left between two computations and
    never within one, as it would be by an exception that the signal itself raises.
    """

    def look(module: nn.Module, arguments: Any) -> None:
        if received:
            raise StoppedError

    module.register_forward_pre_hook(look)


@contextmanager
def stop_on_signals() -> Iterator[Sequence[int]]:
    """Collect signals instead of dying from them; the second SIGINT ends the process at once.

    The first SIGINT is answered: an update, or a batch of a validation, may take a while to end.

    SIGHUP comes when the terminal is closed; under `nohup` it is ignored, and stays so.
    """
    received: list[int] = []
    caught = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        caught.append(signal.SIGHUP)
    with _answered():
        previous = {
            number: signal.signal(number, lambda number, frame: received.append(number))
            for number in caught
        }
        try:
            yield received
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


@contextmanager
def _answered() -> Iterator[None]:
    """Have a thread answer each SIGINT as it comes.

    A Python signal handler runs between two Python instructions, and a PyTorch call that takes
    seconds is one of them. The number of a signal is written to a pipe at once.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    thread = Thread(target=_answer, args=(reading,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(writing, NO_SIGNAL)
        thread.join()
        os.close(writing)
        os.close(reading)


def _answer(signals: int) -> None:
    """Answer the first SIGINT of a pipe with a line, and the second with the end of the process."""
    numbers = iter(partial(os.read, signals, 1), NO_SIGNAL)
    interrupts = (number for number in numbers if number[0] == signal.SIGINT)
    if next(interrupts, None) and rank() == 0:
        _say(STOPPING + (b"" if is_torchelastic_launched() else ONCE_MORE) + b"\n")
    if next(interrupts, None):
        if os.isatty(STANDARD_ERROR):
            _say(SHOW_CURSOR)
        os._exit(INTERRUPTED)


def _say(text: bytes) -> None:
    """Bypass Python's buffers, which a signal may have interrupted midway."""
    with suppress(OSError):
        os.write(STANDARD_ERROR, text)
