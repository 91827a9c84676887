"""A table of numbers between 0 and 1 as coloured cells, in SVG."""

from collections.abc import Sequence

import numpy as np

from dragoman.visualisation.axes import labelled_grid
from dragoman.visualisation.markup import element, escape, isolated

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
    cells = [
        element(
            "rect",
            {"x": CELL * j + 1, "y": CELL * i + 1, "style": f"--w:{value:.3f}"},
            element("title", {}, escape(f"{isolated(row)} → {isolated(column)}: {value:.4f}")),
        )
        for i, (row, values) in enumerate(zip(rows, weights, strict=True))
        for j, (column, value) in enumerate(zip(columns, values, strict=True))
        if not np.isnan(value)
    ]
    return labelled_grid(rows, columns, *cells, cell=CELL, description=description, classes="map")
