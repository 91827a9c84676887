"""Attention weights of one head as a compact grid: a page shows a hundred of them."""

from collections.abc import Sequence

import numpy as np

from dragoman.visualisation.axes import labelled_grid
from dragoman.visualisation.markup import element, escape, isolated
from dragoman.visualisation.stream_trace import Array
from dragoman.visualisation.svg import text

CELL = 18  # pixels
LEVELS = 20
"""Shades; all cells of one shade are one path."""

LEAST_WRITTEN = 10
"""Percentage from which a weight is written into its cell."""

DARK_FROM = 0.55
"""Weight from which the text in a cell has the background colour."""

NUM_NAMED = 3
"""How many of the largest weights of a row show on hover."""

STYLE = """
.grid-of-weights { font-variant-numeric: tabular-nums; }
.grid-of-weights path {
  fill: color-mix(in oklab, var(--most) calc(var(--w) * 100%), var(--least));
  stroke: var(--background); stroke-width: .06;
}
.grid-of-weights .frame { fill: var(--least); stroke: var(--line); }
.grid-of-weights .share { font-size: 9px; text-anchor: middle; }
.grid-of-weights .share.dark { fill: var(--background); }
.grid-of-weights .row { fill: transparent; }
.grid-of-weights .row:hover { stroke: var(--accent); stroke-width: 2; }
"""


def attention_grid(
    weights: Array, rows: Sequence[str], columns: Sequence[str], description: str
) -> str:
    """Draw a cell for each weight, with its percentage if that is not small.

    Hovering over a row shows its largest weights.

    Args:
        weights: Of shape (rows, columns), from 0 to 1.
        rows: The tokens that look.
        columns: The tokens that are looked at.
        description: What the picture shows.
    """
    size = {"width": CELL * len(columns), "height": CELL * len(rows)}
    return labelled_grid(
        rows,
        columns,
        element("rect", {**size, "class": "frame"}),
        element("g", {"transform": f"scale({CELL})"}, shaded_cells(weights)),
        *_numbers(weights),
        *_rows(weights, rows, columns),
        cell=CELL,
        description=description,
        classes="grid-of-weights",
    )


def shaded_cells(values: Array) -> str:
    """Draw unit squares, those of a shade as one path; the lightest shade is the background.

    Args:
        values: Of shape (rows, columns), from 0 to 1.
    """
    levels = np.rint(np.clip(values, 0, 1) * LEVELS).astype(int)
    paths = []
    for level in range(1, LEVELS + 1):
        squares = "".join(f"M{x} {y}h1v1h-1z" for y, x in np.argwhere(levels == level))
        if squares:
            paths.append(element("path", {"style": f"--w:{level / LEVELS}", "d": squares}))
    return "".join(paths)


def _numbers(weights: Array) -> list[str]:
    """Write the percentage into the cells where it is large enough."""
    per_cent = np.rint(weights * 100).astype(int)
    return [
        text(
            CELL * (j + 0.5),
            CELL * (i + 0.5) + 3,
            str(per_cent[i, j]),
            classes="share dark" if weights[i, j] >= DARK_FROM else "share",
        )
        for i, j in np.argwhere(per_cent >= LEAST_WRITTEN)
    ]


def _rows(weights: Array, rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Lay a strip over each row, whose title has its largest weights."""
    strips = []
    for i, (row, values) in enumerate(zip(rows, weights, strict=True)):
        largest = np.argsort(-values, kind="stable")[:NUM_NAMED]
        named = ", ".join(f"{isolated(columns[j])} {values[j]:.3f}" for j in largest)
        place = {"y": CELL * i, "width": CELL * len(columns), "height": CELL}
        title = element("title", {}, escape(f"{isolated(row)} → {named}"))
        strips.append(element("rect", {**place, "class": "row"}, title))
    return strips
