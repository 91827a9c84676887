"""Files of pictures that matplotlib draws: SVG, PNG and PDF."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager, get_font

from dragoman.visualisation.colours import LEAST, MOST, NEGATIVE, POSITIVE, ZERO, ramp

SHADES = 256
PIXELS_PER_INCH = 150
FONT = "DejaVu Sans"
"""Comes with matplotlib, and knows the letters of most alphabets."""

SEQUENTIAL = ListedColormap(ramp(LEAST, MOST, SHADES), "sequential")
DIVERGING = ListedColormap(
    np.concatenate([ramp(NEGATIVE, ZERO, SHADES // 2), ramp(ZERO, POSITIVE, SHADES // 2)]),
    "diverging",
)


def write_figure(figure: Figure, stream: BinaryIO, ending: str) -> None:
    """Write a figure as an SVG, PNG or PDF.

    An SVG keeps its text as text, so that it can be searched, and the viewer's fonts draw what
    ours do not have.
    """
    with matplotlib.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        # `undrawable` tells them all at once, and before.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(stream, format=ending, dpi=PIXELS_PER_INCH)


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Place axes in a figure, in inches from its upper left corner."""
    whole_width, whole_height = figure.get_size_inches()
    bottom = whole_height - top - height
    return figure.add_axes(
        (
            left / whole_width,
            bottom / whole_height,
            width / whole_width,
            height / whole_height,
        )
    )


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Name the fonts of this machine that together have all characters, as far as there are some.

    Fonts of coloured pictures are left out, as matplotlib cannot draw them.
    """
    fonts = [FONT]
    missing = _without_glyph(texts)
    for entry in sorted(fontManager.ttflist, key=lambda font: (font.name, font.fname)):
        if not missing:
            break
        if "color" in entry.name.lower() or entry.style != "normal":
            continue
        known = {chr(code) for code in get_font(entry.fname).get_charmap()}
        if missing & known:
            fonts.append(entry.name)
            missing -= known
    return fonts


def undrawable(texts: Iterable[str], fonts: Iterable[str]) -> str:
    """List the characters that stand as boxes in a PNG or PDF, as no font here has them."""
    missing = _without_glyph(texts)
    for entry in fontManager.ttflist:
        if missing and entry.name in fonts:
            missing -= {chr(code) for code in get_font(entry.fname).get_charmap()}
    return "".join(sorted(missing))


def _without_glyph(texts: Iterable[str]) -> set[str]:
    """Find the characters that the usual font lacks."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    known = {chr(code) for code in get_font(str(path)).get_charmap()}
    return set("".join(texts)) - known
