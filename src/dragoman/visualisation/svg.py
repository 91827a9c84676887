"""The few shapes that drawings are made of, as SVG within a page or on its own."""

import unicodedata
from collections.abc import Sequence
from typing import Literal

from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import COLOURS, DRAWING_STYLE

WIDTHS = {  # em, of DejaVu Sans, which is wider than most
    " .,:;!|'()[]/\\-ijlI": 0.46,
    "abcdefghknopqrstuvxyz0123456789?$*_`{}": 0.65,
    "mwMW@%…": 1.01,
}
WIDTH_OF_OTHERS = 0.86  # em
WIDTH_OF_IDEOGRAPHS = 1.0  # em

Anchor = Literal["start", "middle", "end"]


def drawing(width: float, height: float, description: str, *children: str) -> str:
    """Put shapes together; a page may show the drawing smaller.

    Args:
        width: In pixels, as is all that follows.
        height: In pixels.
        description: What the drawing shows, for those who cannot see it.
        children: Shapes.
    """
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width:.0f} {height:.0f}",
        "width": round(width),
        "height": round(height),
        "role": "img",
        "aria-label": description,
    }
    return element("svg", attributes, *children)


def standalone(drawn: str, *, style: str = "") -> str:
    """Turn a drawing into a file of its own, with its colours."""
    end = drawn.index(">") + 1
    ground = "svg { background: var(--background); }"
    return f"{drawn[:end]}<style>{COLOURS}{DRAWING_STYLE}{style}{ground}</style>{drawn[end:]}\n"


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: Anchor = "start",
    classes: str = "",
    turned: float = 0.0,
) -> str:
    """Write one line of plain text with its baseline at y, rotated by degrees around its place."""
    attributes: dict[str, object] = {"x": x, "y": y}
    if anchor != "start":
        attributes["text-anchor"] = anchor
    if classes:
        attributes["class"] = classes
    if turned:
        attributes["transform"] = f"rotate({turned:g} {x:g} {y:g})"
    return element("text", attributes, escape(content))


def polyline(points: Sequence[tuple[float, float]], *, classes: str) -> str:
    """Connect points by straight lines."""
    written = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", {"points": written, "class": classes})


def width_of(content: str, size: float) -> float:
    """Estimate how many pixels a line of text takes at most, at a font size in pixels.

    >>> round(width_of("il", 10), 1), width_of("漢字", 10)
    (9.2, 20.0)
    """
    return size * sum(_width_of_character(character) for character in content)


def _width_of_character(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return WIDTH_OF_IDEOGRAPHS
    letter = unicodedata.normalize("NFD", character)[0]  # é is as wide as e
    return next((width for letters, width in WIDTHS.items() if letter in letters), WIDTH_OF_OTHERS)
