"""Attention as one picture for print: a row of heads for each layer."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dragoman.visualisation.attended_sentence import HeadMap
from dragoman.visualisation.attention_page import NAMES
from dragoman.visualisation.axes import shorten
from dragoman.visualisation.markup import visible
from dragoman.visualisation.picture_file import SEQUENTIAL, fonts_for
from dragoman.visualisation.svg import width_of

CELL, GAP, MARGIN = 0.15, 0.25, 0.2  # inches
TITLE = 0.45  # inches above the labels
LABEL_SIZE, TITLE_SIZE = 7, 9  # points
POINTS_PER_INCH = 72
BOX = 1.15  # of a full-width character: the width of the box for one without a font


def attention_figure(maps: Sequence[HeadMap]) -> Figure:
    """Draw the maps of a sentence; the tokens of rows look at those of columns.

    Args:
        maps: At least one; the heads of a layer are consecutive.
    """
    layers = [list(heads) for _, heads in groupby(maps, lambda m: (m.kind, m.layer))]
    left = MARGIN + max(_room(each.rows) for each in maps)
    width = left + max(sum(_step(each) for each in heads) for heads in layers) + MARGIN
    tops = [MARGIN]
    for heads in layers:
        tops.append(tops[-1] + TITLE + _room(heads[0].columns) + CELL * len(heads[0].rows) + GAP)
    figure = Figure(figsize=(max(width, 4.0), tops[-1] + TITLE))
    fonts = fonts_for(label for each in maps for label in (*each.rows, *each.columns))
    for heads, top in zip(layers, tops, strict=False):
        _draw_layer(figure, heads, left, top, fonts)
    _draw_scale(figure, left, tops[-1])
    return figure


def _axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Place axes in a figure, in inches from its upper left corner."""
    across, down = figure.get_size_inches()
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )


def _room(labels: Sequence[str]) -> float:
    """Tell how many inches the widest label may take."""
    widest = max(width_of(visible(shorten(label)), BOX * LABEL_SIZE) for label in labels)
    return widest / POINTS_PER_INCH + 0.1


def _step(each: HeadMap) -> float:
    return CELL * len(each.columns) + GAP


def _draw_layer(
    figure: Figure, heads: list[HeadMap], left: float, top: float, fonts: list[str]
) -> None:
    first = heads[0]
    cells_top = top + TITLE + _room(first.columns)
    title = f"{NAMES[first.kind]}, layer {first.layer}"
    figure.text(
        MARGIN / figure.get_figwidth(),
        1 - (top + 0.15) / figure.get_figheight(),
        title,
        size=TITLE_SIZE,
        weight="bold",
    )
    for number, each in enumerate(heads):
        size = CELL * len(each.columns), CELL * len(each.rows)
        axes = _axes_at(figure, left + number * _step(each), cells_top, *size)
        axes.set_axis_off()
        axes.pcolormesh(
            each.weights, cmap=SEQUENTIAL, vmin=0, vmax=1, edgecolors="white", linewidth=0.4
        )
        axes.invert_yaxis()
        name_at = -(_room(each.columns) + 0.05) / CELL
        axes.text(0, name_at, f"head {each.head}", size=LABEL_SIZE + 1, color="#5a6572")
        style: dict[str, Any] = {"size": LABEL_SIZE, "family": fonts, "parse_math": False}
        # As texts, as ticks would take twice as long. A $ is a $.
        for j, column in enumerate(each.columns):
            label = visible(shorten(column))
            axes.text(j + 0.5, -0.3, label, rotation=90, ha="center", va="bottom", **style)
        for i, row in enumerate(each.rows if number == 0 else ()):
            label = visible(shorten(row))
            axes.text(-0.3, i + 0.5, label, ha="right", va="center_baseline", **style)


def _draw_scale(figure: Figure, left: float, top: float) -> None:
    """Say which colour is which weight."""
    axes = _axes_at(figure, left, top, 1.5, 0.1)
    axes.pcolormesh([[i / 100 for i in range(101)]], cmap=SEQUENTIAL, vmin=0, vmax=1)
    axes.set_xticks([0.5, 50.5, 100.5], ["0", "0.5", "1"], size=LABEL_SIZE)
    axes.set_yticks([0.5], ["weight"], size=LABEL_SIZE)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
