"""Picture files that matplotlib draws: SVG, PNG and PDF."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import matplotlib
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager, get_font

from dragoman.visualisation.colours import LEAST, MOST, NEGATIVE, POSITIVE, ZERO
from dragoman.visualisation.markup import visible

PIXELS_PER_INCH = 150

UNUSABLE = ("Color", "Last Resort")
"""Found in names of fonts that matplotlib cannot draw, or that have a box for each character."""

FONT = "DejaVu Sans"
"""Comes with matplotlib, and has the letters of most alphabets."""

SEQUENTIAL = LinearSegmentedColormap.from_list("sequential", [LEAST, MOST])
DIVERGING = LinearSegmentedColormap.from_list("diverging", [NEGATIVE, ZERO, POSITIVE])


def write_figure(figure: Figure, stream: BinaryIO, ending: str) -> None:
    """Write a figure as an SVG, PNG or PDF.

    An SVG keeps its text as text, so that it can be searched, and the viewer's fonts draw what ours
    lack.
    """
    with matplotlib.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        # `undrawable` lists them all at once, beforehand.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(stream, format=ending, dpi=PIXELS_PER_INCH)


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Name fonts of this machine that together have all characters that any of them has."""
    return [FONT, *_further_fonts(texts)[0]]


def undrawable(texts: Iterable[str]) -> str:
    """List the characters that no font here has; in a PNG or PDF, boxes stand for them."""
    return "".join(sorted(_further_fonts(texts)[1]))


def _further_fonts(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Look for fonts that have what the usual one lacks; return them and what is still missing."""
    usual = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    missing = set(visible("".join(texts))) - _characters(usual)
    found = []
    for entry in sorted(fontManager.ttflist, key=lambda font: (font.name, font.fname)):
        if missing and not any(word in entry.name for word in UNUSABLE):
            known = missing & _characters(Path(entry.fname))
            found += [entry.name] if known else []
            missing -= known
    return found, missing


def _characters(font: Path) -> set[str]:
    if not font.exists():  # matplotlib keeps its list of fonts when one is removed
        return set()
    return {chr(code) for code in get_font(str(font)).get_charmap()}
