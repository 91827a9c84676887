"""What a person sees is what was said, and nobody has to look."""

import io
import os

from rich.console import Console

from dragoman.training.display import ConsoleDisplay, LastingConsole
from dragoman.training.validation import Validation


def test_nobody_has_to_read_what_a_training_says() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        display = ConsoleDisplay(LastingConsole(file=pipe))
        with display:
            for update in range(3):
                display.message("a line for nobody")
                display.progress(update, 3, loss=1.0, tokens_per_second=5.0)
                display.validation(update, Validation({"loss": 1.0}), best=True)


def test_a_text_is_shown_as_it_is() -> None:
    shown = io.StringIO()

    ConsoleDisplay(Console(file=shown)).message("Delete :id: of [bold]:name:[/bold]")

    assert shown.getvalue() == "Delete :id: of [bold]:name:[/bold]\n"
