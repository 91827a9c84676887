"""Labels to the left of a grid of cells and above it, in SVG."""

from collections.abc import Sequence

from dragoman.visualisation.svg import text, width_of

FONT = 12  # pixels
GAP = 6  # pixels, between labels and cells
LONGEST_LABEL = 18  # characters


def shorten(label: str, longest: int = LONGEST_LABEL) -> str:
    """Shorten a label that would take up too much of the picture."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def margins(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Return the pixels that the labels take on the left and above."""
    left, top = (max(width_of(shorten(label), FONT) for label in each) for each in (rows, columns))
    return left + GAP, top + GAP


def axis_labels(
    rows: Sequence[str], columns: Sequence[str], cell: int, left: float, top: float
) -> list[str]:
    """Write the labels of a grid whose first cell begins at `left` and `top`.

    Args:
        rows: Written on the left.
        columns: Written above, upwards.
        cell: Width and height of a cell in pixels.
        left: Pixels from the left edge of the drawing.
        top: Pixels from its upper edge.
    """
    baseline = cell / 2 + FONT / 3
    return [
        text(left - GAP, top + cell * i + baseline, shorten(row), anchor="end")
        for i, row in enumerate(rows)
    ] + [
        text(left + cell * j + baseline, top - GAP, shorten(column), turned=-90)
        for j, column in enumerate(columns)
    ]
