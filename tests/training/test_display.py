"""What a person sees is what was said, and nobody has to look."""

import io
import os
from collections.abc import Callable

import pytest
from rich.console import Console

from dragoman.training.display import ConsoleDisplay, LastingConsole
from dragoman.training.validation import Sample, Validation


def closed_pipe() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def closed_terminal() -> int:
    outside, inside = os.openpty()
    os.close(outside)
    return inside


def full_disk() -> int:
    return os.open("/dev/full", os.O_WRONLY)


@pytest.mark.parametrize("with_bar", [False, True])
@pytest.mark.parametrize("open_gone", [closed_pipe, closed_terminal, full_disk])
def test_nobody_has_to_read_what_a_training_says(
    open_gone: Callable[[], int], with_bar: bool
) -> None:
    with os.fdopen(open_gone(), "w") as gone:
        display = ConsoleDisplay(LastingConsole(file=gone, force_terminal=with_bar))
        with display:
            for update in range(3):
                display.message("a line for nobody")
                display.progress(update, 3, loss=1.0, tokens_per_second=5.0)
                display.validation(update, Validation({"loss": 1.0}), best=True)


def test_a_text_is_shown_as_it_is() -> None:
    shown = io.StringIO()

    ConsoleDisplay(Console(file=shown)).message("Delete :id: of [bold]:name:[/bold]")

    assert shown.getvalue() == "Delete :id: of [bold]:name:[/bold]\n"


def test_of_a_long_sample_the_beginning_is_shown() -> None:
    shown = io.StringIO()
    sample = Sample(source="x" * 200, reference="y" * 201, translation="a b " * 999)

    ConsoleDisplay(Console(file=shown)).validation(7, Validation({}, [sample]), best=False)

    _, *lines = shown.getvalue().splitlines()
    assert lines == [
        f"    source      {'x' * 200}",
        f"    reference   {'y' * 199}…",
        f"    translation {'a b ' * 49}a b…",
    ]
