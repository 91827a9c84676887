"""A table of numbers between 0 and 1 as coloured cells, in SVG."""

from collections.abc import Sequence

import numpy as np

from dragoman.visualisation.axes import axis_labels, margins
from dragoman.visualisation.markup import element, escape, isolated
from dragoman.visualisation.svg import drawing

CELL = 20  # pixels

STYLE = f"""
.map rect {{
  width: {CELL - 1}px; height: {CELL - 1}px;
  fill: color-mix(in oklab, var(--most) calc(var(--w) * 100%), var(--least));
}}
.map rect:hover {{ stroke: var(--accent); stroke-width: 2; }}
"""
"""Each cell sets its value as `--w`. Oklab makes equal steps look equal, in light and in dark."""


def heat_map(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], description: str
) -> str:
    """Draw a cell for each number; its title, which shows on hover, has the number itself.

    Args:
        weights: Of shape (rows, columns), from 0 to 1; there is no cell where it is NaN.
        rows: Their labels, on the left.
        columns: Their labels, above.
        description: What the picture shows.
    """
    left, top = margins(rows, columns)
    width, height = left + CELL * len(columns) + 1, top + CELL * len(rows) + 1
    lines = [
        _row(left, top + CELL * i, row, columns, values)
        for i, (row, values) in enumerate(zip(rows, weights, strict=True))
    ]
    return drawing(width, height, description, *axis_labels(rows, columns, CELL, left, top), *lines)


def _row(left: float, top: float, row: str, columns: Sequence[str], values: np.ndarray) -> str:
    cells = [
        element(
            "rect",
            {"x": CELL * j + 1, "y": 1, "style": f"--w:{value:.3f}"},
            element("title", {}, escape(f"{isolated(row)} → {isolated(column)}: {value:.4f}")),
        )
        for j, (column, value) in enumerate(zip(columns, values, strict=True))
        if not np.isnan(value)
    ]
    return element("g", {"class": "map", "transform": f"translate({left:.0f} {top:.0f})"}, *cells)
