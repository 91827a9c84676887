"""A grid of cells in SVG, with labels to the left of it and above."""

import math
from collections.abc import Sequence

from dragoman.visualisation.markup import element
from dragoman.visualisation.svg import drawing, text, width_of

FONT = 12  # pixels
GAP = 6  # pixels, between labels and cells
LONGEST_LABEL = 18  # characters


def shorten(label: str, longest: int = LONGEST_LABEL) -> str:
    """Shorten a label that would take up too much of the picture."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def labelled_grid(
    rows: Sequence[str],
    columns: Sequence[str],
    *cells: str,
    cell: int,
    description: str,
    classes: str,
) -> str:
    """Draw cells with their labels.

    Args:
        rows: Labels on the left.
        columns: Labels above, written upwards.
        cells: Shapes; their origin is the upper left corner of the first cell.
        cell: Width and height of a cell in pixels.
        description: What the picture shows.
        classes: For a style of all this.
    """
    left, top = (
        math.ceil(GAP + max(width_of(shorten(label), FONT) for label in each))
        for each in (rows, columns)
    )
    baseline = cell / 2 + FONT / 3
    labels = [
        text(left - GAP, top + cell * i + baseline, shorten(row), anchor="end")
        for i, row in enumerate(rows)
    ] + [
        text(left + cell * j + baseline, top - GAP, shorten(column), turned=-90)
        for j, column in enumerate(columns)
    ]
    return drawing(
        left + cell * len(columns) + 1,
        top + cell * len(rows) + 1,
        description,
        element(
            "g",
            {"class": classes},
            *labels,
            element("g", {"transform": f"translate({left} {top})"}, *cells),
        ),
    )
