"""What a person sees is what was said, and nobody has to look."""

import io
import os
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from rich.console import Console

from dragoman.training import display
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


def test_without_a_terminal_a_line_now_and_then_says_how_far_the_run_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = iter([0.0, 29.0, 31.0, 60.0, 62.0])
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    shown = io.StringIO()
    console = ConsoleDisplay(Console(file=shown))

    for update in range(1, 5):
        console.progress(update, 9000, loss=1.5, tokens_per_second=2000.0)

    assert shown.getvalue() == (
        "update 2/9000  loss 1.500  2,000 tokens/s\nupdate 4/9000  loss 1.500  2,000 tokens/s\n"
    )


def test_a_validation_is_a_line_that_says_whether_it_is_the_best() -> None:
    shown = io.StringIO()
    console = ConsoleDisplay(Console(file=shown))

    console.validation(7, Validation({"loss": 1.2345, "BLEU": 30.26}), best=True)
    console.validation(8, Validation({"loss": 1.3}), best=False)

    assert shown.getvalue() == (
        "validation after update 7: loss 1.234  BLEU 30.3  (best)\n"
        "validation after update 8: loss 1.300\n"
    )
