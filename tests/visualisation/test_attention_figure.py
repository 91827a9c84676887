"""The picture for print has every weight and every token, whatever signs the token has."""

import io
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.font_manager import FontEntry, fontManager

from dragoman.visualisation.attended_sentence import HeadMap
from dragoman.visualisation.attention_figure import attention_figure
from dragoman.visualisation.picture_file import fonts_for, undrawable, write_figure

ROWS = ("$a$", "<&>", "\\frac{")
COLUMNS = ("漢字", "🦊", "▁of", "\x1b")


@pytest.fixture
def maps() -> list[HeadMap]:
    weights = np.random.default_rng(3).random((2, 2, 3, 4))
    return [
        HeadMap(
            kind="cross",
            layer=layer + 1,
            head=head + 1,
            rows=ROWS,
            columns=COLUMNS,
            weights=weights[layer, head],
        )
        for layer in range(2)
        for head in range(2)
    ]


def test_the_meshes_hold_the_weights_in_the_order_of_the_heads(maps: list[HeadMap]) -> None:
    figure = attention_figure(maps)

    meshes = [mesh for axes in figure.axes for mesh in axes.collections]
    for mesh, each in zip(meshes, maps, strict=False):
        assert isinstance(mesh, QuadMesh)
        assert np.array_equal(np.asarray(mesh.get_array()), each.weights)
        assert mesh.get_clim() == (0, 1)


def test_the_first_row_is_above_and_the_first_column_at_the_left(maps: list[HeadMap]) -> None:
    axes = attention_figure(maps).axes[0]

    assert axes.yaxis_inverted()
    places = {label.get_text(): label.get_position() for label in axes.texts}
    assert places["<&>"][1] == 1.5
    assert places["▁of"][0] == 2.5


@pytest.mark.filterwarnings("ignore:Glyph")  # boxes stand there
@pytest.mark.parametrize("label", ["漢" * 12, "W" * 12, "i" * 12])
def test_the_widest_label_stands_between_the_map_and_its_title(
    label: str, maps: list[HeadMap]
) -> None:
    each = replace(maps[0], columns=(label, *COLUMNS[1:]))
    figure = attention_figure([each])
    figure.set_dpi(600)  # at few dots for an inch, letters are set apart by whole ones
    figure.draw_without_rendering()

    texts = {text.get_text(): text.get_window_extent() for text in figure.axes[0].texts}
    assert texts[label].y1 < texts["head 1"].y0


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_no_sign_breaks_a_file(ending: str, maps: list[HeadMap]) -> None:
    stream = io.BytesIO()

    write_figure(attention_figure(maps), stream, ending)

    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert stream.getvalue().startswith(begin)


def test_an_svg_keeps_its_labels_as_text(maps: list[HeadMap]) -> None:
    stream = io.BytesIO()

    write_figure(attention_figure(maps), stream, "svg")

    root = ElementTree.fromstring(stream.getvalue())
    found = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"$a$", "<&>", "\\frac{", "漢字", "🦊", "▁of", "␛", "Cross-attention, layer 2"} <= set(
        found
    )
    assert found.count("🦊") == 4  # above each head
    assert found.count("$a$") == 2  # at the left of each layer


def test_characters_that_no_font_has_are_named() -> None:
    unassigned = "\U0003fffd"  # no font can have it

    assert undrawable(["abc▁é", f"x{unassigned}"]) == unassigned
    assert undrawable(["abc▁é"]) == ""


def test_a_character_that_a_picture_stands_for_is_no_character_that_no_font_has() -> None:
    assert undrawable(["a\tb\x00"]) == undrawable(["a␉b␀"])


def test_a_font_that_is_gone_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = FontEntry(fname="/nowhere/gone.ttf", name="Aaa")
    monkeypatch.setattr(fontManager, "ttflist", [gone, *fontManager.ttflist])

    assert "Aaa" not in fonts_for(["\U0003fffd"])
