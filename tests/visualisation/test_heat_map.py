"""Each number has its cell, each label its place, whatever is written in it."""

from xml.etree import ElementTree

import numpy as np
import pytest

from dragoman.visualisation.heat_map import CELL, heat_map

SVG = "{http://www.w3.org/2000/svg}"
ROWS = ("<s>", '"$a$" & b', "▁donaudampfschifffahrt")
COLUMNS = ("漢字", "🦊", "\x00\t", "▁long-winded-and-without-end")
WEIGHTS = np.arange(12).reshape(3, 4) / 12


@pytest.fixture
def drawn() -> ElementTree.Element:
    return ElementTree.fromstring(heat_map(WEIGHTS, ROWS, COLUMNS, 'a "<map>"'))


def test_there_is_a_cell_for_each_weight_with_its_title_and_colour(
    drawn: ElementTree.Element,
) -> None:
    cells = list(drawn.iter(f"{SVG}rect"))

    assert [place(cell) for cell in cells] == [(i, j) for i in range(3) for j in range(4)]
    assert (
        cells[6].findtext(f"{SVG}title") == '\u2068"$a$" & b\u2069 → \u2068␀␉\u2069: 0.5000'
    )  # 6 / 12
    assert (
        cells[8].findtext(f"{SVG}title")
        == "\u2068▁donaudampfschifffahrt\u2069 → \u2068漢字\u2069: 0.6667"
    )  # 8 / 12
    assert cells[8].get("style") == "--w:0.667"


def place(cell: ElementTree.Element) -> tuple[int, int]:
    """Tell the row and the column of a cell."""
    return int(cell.get("y", "")) // CELL, int(cell.get("x", "")) // CELL


def test_there_is_no_cell_where_there_is_no_number() -> None:
    weights = np.where(WEIGHTS < 0.5, np.nan, WEIGHTS)
    drawn = ElementTree.fromstring(heat_map(weights, ROWS, COLUMNS, "a map"))

    found = [place(cell) for cell in drawn.iter(f"{SVG}rect")]
    assert found == [(1, 2), (1, 3), *((2, column) for column in range(4))]


def test_labels_stand_at_their_row_and_column(drawn: ElementTree.Element) -> None:
    labels = {label.text: label for label in drawn.iter(f"{SVG}text")}

    rows, columns = {"<s>", '"$a$" & b', "▁donaudampfschiff…"}, {"漢字", "🦊", "␀␉"}
    assert set(labels) == {*rows, *columns, "▁long-winded-and-…"}
    second, third = (float(labels[row].get("y", "")) for row in (ROWS[1], "▁donaudampfschiff…"))
    assert third - second == CELL
    fox, first = (float(labels[name].get("x", "")) for name in ("🦊", "漢字"))
    assert fox - first == CELL


def test_a_label_ends_before_the_cells_and_inside_the_picture(drawn: ElementTree.Element) -> None:
    (cells,) = drawn.findall(f"{SVG}g/{SVG}g")
    x, y = (float(part) for part in cells.get("transform", "")[10:-1].split())

    assert all(
        float(label.get("x", "")) < x
        for label in drawn.iter(f"{SVG}text")
        if label.get("text-anchor") == "end"
    )
    width, height = (float(size) for size in drawn.get("viewBox", "").split()[2:])
    assert width >= x + 4 * CELL
    assert height >= y + 3 * CELL
