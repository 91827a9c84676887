"""The page shows the map that is chosen, and only this, without a script."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page
from tests.serving.chromium import opened

from dragoman.visualisation.attended_sentence import AttentionKind, HeadMap
from dragoman.visualisation.attention_page import attention_page

SVG = "{http://www.w3.org/2000/svg}"
LAYERS: dict[AttentionKind, int] = {"encoder": 1, "decoder": 2, "cross": 2}


def make_maps(layers: dict[AttentionKind, int] = LAYERS) -> list[HeadMap]:
    """Give each map weights of its own: kind, layer and head are its digits."""
    return [
        HeadMap(
            kind=kind,
            layer=layer,
            head=head,
            rows=("il", "</s>"),
            columns=("the", "$", "</s>"),
            weights=np.full((2, 3), (100 * (number + 1) + 10 * layer + head) / 1000),
        )
        for number, kind in enumerate(layers)
        for layer in range(1, layers[kind] + 1)
        for head in (1, 2)
    ]


def test_every_weight_of_every_head_is_on_the_page() -> None:
    root = ElementTree.fromstring(attention_page(make_maps(), languages=("en", "it")))

    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert len(titles) == 10 * 6
    assert titles.count("\u2068il\u2069 → \u2068$\u2069: 0.3220") == 1  # cross, layer 2, head 2
    labels = {label.text for label in root.iter(f"{SVG}text")}
    assert labels == {"il", "</s>", "the", "$"}


def test_the_page_opens_with_a_map_where_the_encoder_is_the_deeper_stack() -> None:
    maps = make_maps({"encoder": 6, "decoder": 1, "cross": 1})
    root = ElementTree.fromstring(attention_page(maps, languages=("en", "it")))

    checked = {each.get("id") for each in root.iter("input") if each.get("checked")}
    assert checked == {"kind-cross", "layer-1", "head-all"}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    written = attention_page(make_maps(), languages=("en", "it"))
    with opened(written, tmp_path / "page.html", width=400) as page:
        yield page


def shown(page: Page) -> list[str]:
    return [
        drawing.get_attribute("aria-label") or ""
        for drawing in page.locator("svg").all()
        if drawing.is_visible()
    ]


def test_the_keyboard_chooses_kind_layer_and_head(page: Page) -> None:
    assert shown(page) == [f"Cross-attention, layer 2, head {head}" for head in (1, 2)]

    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")  # kind: from cross to decoder
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")  # layer: from 2 to 1
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # head: from all to 1

    assert shown(page) == ["Decoder self-attention, layer 1, head 1"]


def test_a_layer_that_a_stack_does_not_have_is_said_to_be_missing(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # kind: round from cross to encoder

    assert shown(page) == []
    assert page.get_by_text("This stack has no layer 2.").is_visible()


def test_the_page_is_as_wide_as_the_telephone(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_page_of_long_names_and_notes_is_as_wide_as_the_telephone(
    page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "long.html"
    written = attention_page(
        make_maps(), languages=("e" * 99, "it"), notes=["must keep " + "x" * 99]
    )
    path.write_text(written, encoding="utf-8")

    page.goto(path.as_uri())

    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_cell_is_as_bright_as_its_weight_says_in_light_and_in_dark(page: Page) -> None:
    def lightness(weight: str) -> float:
        cell = page.locator(f"rect[style='--w:{weight}']").first
        colour = cell.evaluate("cell => getComputedStyle(cell).fill")
        return float(colour.removeprefix("oklab(").split()[0])

    page.emulate_media(color_scheme="light")
    light = [lightness(weight) for weight in ("0.111", "0.322")]
    page.emulate_media(color_scheme="dark")
    dark = [lightness(weight) for weight in ("0.111", "0.322")]

    assert light[0] > light[1]
    assert dark[0] < dark[1]
