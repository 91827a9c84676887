"""The encodings of positions in three pictures: values, similarity and wavelengths."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dragoman.visualisation.colours import SERIES
from dragoman.visualisation.picture_file import DIVERGING
from dragoman.visualisation.positions import PositionTables

TEXT = 9  # points


def position_figure(tables: PositionTables, name: str) -> Figure:
    """Draw what `position_tables` computes.

    Args:
        tables: The numbers.
        name: Whose encodings they are.
    """
    figure = Figure(figsize=(13.5, 4.6), layout="constrained")
    figure.suptitle(name, size=TEXT + 2, x=0.01, ha="left", parse_math=False)
    encodings, similarities, wavelengths = figure.subplots(1, 3)
    _draw_map(encodings, tables.encodings, "value")
    _label(encodings, "Encodings", "dimension", "position")
    _draw_map(similarities, tables.similarities, "dot product / dot product with itself")
    _label(similarities, "Similarity of positions", "position", "position")
    wavelengths.semilogy(tables.wavelengths, ".-", color=SERIES[0])
    wavelengths.grid(color="#d5dbe2", linewidth=0.6)
    wavelengths.spines[["top", "right"]].set_visible(False)
    _label(wavelengths, "Wavelengths", "pair of dimensions", "positions until it repeats")
    return figure


def _draw_map(axes: Axes, values: np.ndarray, unit: str) -> None:
    drawn = axes.imshow(
        values, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
    )
    scale = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.03, ticks=[-1, -0.5, 0, 0.5, 1])
    scale.set_label(unit, size=TEXT)
    scale.ax.tick_params(labelsize=TEXT - 1)
    scale.outline.set_visible(False)


def _label(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title, size=TEXT + 1, loc="left")
    axes.set_xlabel(across, size=TEXT)
    axes.set_ylabel(up, size=TEXT)
    axes.set_box_aspect(1)
    axes.tick_params(labelsize=TEXT - 1)
