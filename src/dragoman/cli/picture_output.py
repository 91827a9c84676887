"""Where pictures go: the ending of a file's name decides the format."""

from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.text_output import warn
from dragoman.durable import open_whole, write_atomically
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = ("svg", "png", "pdf")
"""What matplotlib writes."""

LARGE_PAGE = 8_000_000
"""Bytes."""


def ending_of(path: Path, known: tuple[str, ...]) -> str:
    """Read the format from the name of a file."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in known:
        *others, last = [f".{each}" for each in known]
        endings = f"{', '.join(others)} or {last}" if others else last
        raise UsageError(f"{path}: its name should end in {endings}")
    return ending


def write_text(path: Path, text: str) -> None:
    """Write a page or a drawing of our own."""
    write_atomically(path, text)
    print(f"wrote {path}")


def warn_of_size(page: str, path: Path, remedy: str) -> None:
    """Warn that a page is large, and say what makes a smaller one."""
    if (size := len(page.encode())) > LARGE_PAGE:
        warn(f"{path} has {size / 1e6:.0f} MB, which takes a browser long to show; {remedy}")


def write_figure_file(path: Path, ending: str, figure: "Figure") -> None:
    """Write a figure of matplotlib."""
    from dragoman.visualisation.picture_file import write_figure

    with open_whole(path) as stream:
        write_figure(figure, stream, ending)
    print(f"wrote {path}")


def warn_of_boxes(ending: str, texts: list[str]) -> None:
    """Warn of characters that no font here has; the viewer of an SVG uses fonts of its own."""
    from dragoman.visualisation.picture_file import undrawable

    if ending != "svg" and (missing := undrawable(texts)):
        warn(
            f"no font here has {missing}, so boxes are drawn instead; an .svg or .html uses the "
            "fonts of its reader"
        )
