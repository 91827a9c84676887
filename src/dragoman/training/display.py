"""What a person sees of a training run: a bar on a terminal, plain lines elsewhere."""

import os
import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dragoman.training.validation import Validation

MOST_SHOWN = 200
"""Characters of a sample: an untrained model may repeat a word until it is stopped."""


class Display:
    """Shows a run as it goes: this one nothing, for processes that are not the first and programs.

    Those derived from it show what they override.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def message(self, text: str) -> None:
        """Say something once."""

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        """Say how far the run is."""

    def validation(self, update: int, validation: Validation, *, best: bool) -> None:
        """Show a validation."""


class LastingConsole(Console):
    """A console that falls silent once it cannot be written to: no training ends over that.

    A pipe has no reader, a terminal is closed, or the disk of a log is full.
    """

    def _check_buffer(self) -> None:
        """Write what was printed; rich's own handles only a broken pipe."""
        try:
            super()._check_buffer()
        except OSError:
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Go on unseen; what is still to be written goes nowhere."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


class ConsoleDisplay(Display):
    """A progress bar with the validations scrolling above it, or a line now and then."""

    SECONDS_BETWEEN_LINES = 30.0
    """Between two progress lines where there is no terminal."""

    def __init__(self, console: Console | None = None) -> None:
        """Show it on a console; if none is given, on standard error for as long as that lasts."""
        self.console = console = console or LastingConsole(stderr=True)
        self._progress = Progress(
            TextColumn("[bold]update {task.completed}/{task.total}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.3f}  {task.fields[speed]:,.0f} tokens/s"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("training", loss=0.0, speed=0.0, visible=False)
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def message(self, text: str) -> None:
        """Print a line above the bar."""
        self.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        """Move the bar; without a terminal, print a line if the last one is old."""
        self._progress.update(
            self._task,
            completed=update,
            total=total,
            loss=loss,
            speed=tokens_per_second,
            visible=True,
        )
        now = time.monotonic()
        if self.console.is_terminal or now - self._last_line < self.SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        self.message(f"update {update}/{total}  loss {loss:.3f}  {tokens_per_second:,.0f} tokens/s")

    def validation(self, update: int, validation: Validation, *, best: bool) -> None:
        """Print the metrics and the sample translations."""
        mark = "  (best)" if best else ""
        self.message(f"validation after update {update}: {validation.summary()}{mark}")
        for sample in validation.samples:
            self.message(f"    source      {_begin(sample.source)}")
            self.message(f"    reference   {_begin(sample.reference)}")
            self.message(f"    translation {_begin(sample.translation)}")


def _begin(text: str) -> str:
    """Show how a long text begins; the journal has all of it."""
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
