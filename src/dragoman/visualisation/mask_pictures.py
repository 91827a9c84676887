"""Masks as pictures: for print, and on a page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dragoman.visualisation import heat_map
from dragoman.visualisation.markup import element
from dragoman.visualisation.mask_examples import MaskExample
from dragoman.visualisation.page import write_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"padding": "Padding", "causal": "Causal", "both": "Both, as in the decoder"}
NOTE = "A row is a position that looks, a column what it looks at. Dark: it may look (True)."

STYLE = (
    heat_map.STYLE
    + """
.masks { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
figure { margin: .5rem 0; max-width: 100%; }
figcaption { color: var(--muted); font-size: .9rem; }
"""
)


def mask_page(examples: Sequence[MaskExample]) -> str:
    """Write a page with the masks of each sentence side by side."""
    lines = [
        element("div", {"class": "masks"}, *(_on_page(example, name) for name in TITLES))
        for example in examples
    ]
    note = NOTE.replace("Dark:", "Dark, or bright on a dark ground:")
    head = element("h1", {}, "Masks of a batch") + element("p", {"class": "note"}, note)
    return write_page("Masks of a batch", head + "".join(lines), style=STYLE)


def _on_page(example: MaskExample, name: str) -> str:
    mask = vars(example)[name].astype(float)
    drawn = heat_map.heat_map(mask, example.tokens, example.tokens, f"{TITLES[name]} mask")
    return element("figure", {}, element("figcaption", {}, TITLES[name]), drawn)


def mask_figure(examples: Sequence[MaskExample]) -> "Figure":
    """Draw a row of masks for each sentence."""
    from matplotlib.figure import Figure

    from dragoman.visualisation.picture_file import SEQUENTIAL

    figure = Figure(figsize=(9.0, 0.6 + 2.8 * len(examples)), layout="constrained")
    figure.supxlabel(NOTE, size=9)
    grid = figure.subplots(len(examples), len(TITLES), squeeze=False)
    for line, example in zip(grid, examples, strict=True):
        for axes, (name, title) in zip(line, TITLES.items(), strict=True):
            mask = vars(example)[name]
            axes.pcolormesh(mask, cmap=SEQUENTIAL, vmin=0, vmax=1, edgecolors="white")
            axes.set_aspect("equal")
            axes.invert_yaxis()
            axes.set_title(title, size=9, loc="left")
            middles = [i + 0.5 for i in range(len(example.tokens))]
            axes.set_xticks(middles, example.tokens, rotation=90, size=8)
            axes.set_yticks(middles, example.tokens, size=8)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
    return figure
