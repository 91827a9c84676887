"""What the page shows of a translation: how it grows, what is aligned, what is inside."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import requests
from playwright.sync_api import Locator, Page, Route, expect
from tests.serving.chromium import CHROMIUM, CONTRAST_OF_DROPPED, LEAST_CONTRAST, SPACE_IS_LAST
from tests.serving.conftest import ALIGNMENT
from tests.serving.live import Copier, Turnstile, loaded, serving
from tests.visualisation.small_model import save_small_model

from dragoman.alignment.aligner import Aligner
from dragoman.model_directory import update_description
from dragoman.serving.batching import TEXTS_AT_ONCE
from dragoman.serving.models import ServedModel

SENTENCE = "The cat is on the table."
WAIT = 30_000  # milliseconds, for a model on a machine that has much else to do
ATTACK = "<img/src=x/onerror=alert(1)>"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def type_in(page: Page, url: str, text: str) -> None:
    page.goto(url)
    page.locator("#source").fill(text)
    page.locator("#source").press("Control+Enter")
    expect(page.locator("#translation .word")).not_to_have_count(0, timeout=WAIT)


def lit(words: Locator) -> list[int]:
    return words.evaluate_all(
        "all => all.flatMap((word, i) => word.classList.contains('lit') ? [i] : [])"
    )


def test_a_long_text_appears_sentence_by_sentence(
    page: Page, held: tuple[Turnstile, ServedModel]
) -> None:
    engine, model = held
    lines = [f"the cat {i}." for i in range(2 * TEXTS_AT_ONCE)]
    engine.passes.release()

    with serving([model]) as url:
        page.goto(url)
        page.locator("#source").fill("\n".join(lines))
        translation = page.locator("#translation")
        expect(translation).to_have_text("\n".join(lines[:TEXTS_AT_ONCE]))
        expect(translation).to_have_attribute("aria-busy", "true")
        engine.passes.release()
        expect(translation).to_have_text("\n".join(lines))
        expect(translation).not_to_have_attribute("aria-busy", "true")
        expect(page.locator("#translation .word")).to_have_count(3 * len(lines))


def test_typing_on_ends_the_translation_of_what_was_typed_before(
    page: Page, held: tuple[Turnstile, ServedModel]
) -> None:
    engine, model = held
    engine.passes.release()

    with serving([model]) as url:
        page.goto(url)
        page.locator("#source").fill("\n".join(["the old cat."] * 3 * TEXTS_AT_ONCE))
        expect(page.locator("#translation")).to_contain_text("the old cat.")
        page.locator("#source").fill("a new dog.")
        aborted = 'dragoman_request_seconds_count{path="/api/v1/translate/stream"} 1.0'
        while aborted not in requests.get(f"{url}/metrics", timeout=30).text:
            page.wait_for_timeout(10)
        engine.passes.release(10)
        expect(page.locator("#translation")).to_have_text("a new dog.")

    assert sum(engine.asked) <= 2 * TEXTS_AT_ONCE + 1


def test_pointing_at_a_word_lights_up_what_it_is_aligned_to(
    page: Page, address: str, english_italian: Path
) -> None:
    type_in(page, address, f"{SENTENCE} Where is the dog?")
    targets, sources = page.locator("#translation .word"), page.locator("#source-marks span")
    translated = requests.post(
        f"{address}/api/v1/translate",
        json={"text": f"{SENTENCE} Where is the dog?", "source": "en", "target": "it"},
        timeout=30,
    ).json()["translations"][0]
    first, second = translated["translated_parts"]
    links, others = (
        aligned.links
        for aligned in Aligner(english_italian).align(
            [(SENTENCE, first), ("Where is the dog?", second)]
        )
    )

    targets.first.hover()
    expected = sorted({i for i, j in links if j == 0})
    expect(sources.nth(expected[0])).to_have_class("lit")
    assert (lit(sources), lit(targets)) == (expected, [0])
    words = " ".join(SENTENCE.split()[i] for i in expected)
    expect(page.locator("#aligned")).to_have_text(f"{words} ↔ {first.split()[0]}")

    box = sources.nth(8).bounding_box()  # "the" of the second sentence, behind the box to type in
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(sources.nth(8)).to_have_class("lit")
    shift = len(first.split())
    assert lit(targets) == sorted({shift + j for i, j in others if i == 2})
    assert lit(sources) == [8]

    page.mouse.move(1, 1)
    expect(page.locator(".lit")).to_have_count(0)
    expect(page.locator("#aligned")).to_be_empty()


def test_words_light_up_by_keyboard(page: Page, address: str) -> None:
    type_in(page, address, SENTENCE)
    targets, sources = page.locator("#translation .word"), page.locator("#source-marks span")

    targets.first.focus()
    expect(targets.first).to_have_class("word lit")
    if targets.count() > 1:
        page.keyboard.press("ArrowRight")
        expect(targets.nth(1)).to_be_focused()
        expect(targets.nth(1)).to_have_class("word lit")
        assert targets.evaluate_all("all => all.map(word => word.tabIndex)").count(0) == 1

    page.locator("#source").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(sources.first).to_have_class("lit")
    assert lit(targets) != []


def test_marks_stand_behind_the_words_they_mark_and_go_when_the_text_is_changed(
    page: Page, address: str
) -> None:
    page.set_viewport_size({"width": 900, "height": 400})
    type_in(page, address, f"{SENTENCE}\n" * 12)
    source, marks = page.locator("#source"), page.locator("#source-marks")

    def geometry(locator: Locator) -> list[str]:
        return locator.evaluate(
            "e => { const s = getComputedStyle(e); return [e.scrollHeight, e.clientWidth, "
            "s.font, s.lineHeight, s.padding].map(String) }"
        )

    assert geometry(marks) == geometry(source)
    source.evaluate("e => e.scrollTop = 40")
    expect(marks).to_have_js_property("scrollTop", 40)
    page.route("**/translate/stream", lambda _: None)  # there will be no answer
    source.press("Control+End")
    source.press("x")
    expect(marks).to_be_empty()


def test_a_model_that_cannot_align_lights_up_nothing(
    page: Page, copying: tuple[Copier, ServedModel]
) -> None:
    with serving([copying[1]]) as url:
        type_in(page, url, "the cat")
        page.locator("#translation .word").first.hover()
        page.wait_for_timeout(200)

        expect(page.locator(".lit")).to_have_count(0)


def open_panel(page: Page) -> None:
    page.locator("#inside > summary").click()
    expect(page.locator("#map td")).not_to_have_count(0, timeout=WAIT)


def test_the_panel_shows_the_numbers_of_the_explanation(page: Page, address: str) -> None:
    fields = {"text": SENTENCE, "source": "en", "target": "it"}
    expected = requests.post(f"{address}/api/v1/explanation", json=fields, timeout=30).json()

    type_in(page, address, SENTENCE)
    open_panel(page)

    pieces = [token["piece"] for token in expected["tokens"]]
    assert page.locator("#tokens > li > b").all_inner_texts() == pieces
    assert page.locator("#map th[scope=row]").all_inner_texts() == pieces
    assert page.locator("#map th[scope=col]").all_inner_texts() == expected["source_pieces"]
    for kind in ("cross", "encoder", "decoder"):
        page.locator(f"input[value={kind}]").check()
        heads = 100 * np.array(expected["attention"][kind][0])
        for name, weights in (("head 2", heads[1]), ("mean of the heads", heads.mean(axis=0))):
            page.get_by_role("radio", name=f"layer 1, {name}").check()
            shown = page.locator("#map tbody tr").evaluate_all(
                "rows => rows.map(row => [...row.querySelectorAll('td')].map(td => +td.innerText))"
            )
            np.testing.assert_allclose(shown, weights, atol=0.51)
    assert page.locator("#beam svg rect").count() == sum(map(len, expected["beam"]["steps"]))
    expect(page.locator("#beam-ending")).to_have_text(expected["beam"]["ending"])
    rows = page.locator("#steps tbody tr:has(td)")
    first = expected["beam"]["steps"][0][0]
    expect(rows).to_have_count(page.locator("#beam svg rect").count())
    assert rows.first.locator("td").all_text_contents() == [
        "1",
        first["piece"],
        "the beginning",
        *(f"{first[name]:.3f}" for name in ("token_log_probability", "log_probability", "score")),
        first["reason"],
    ]


def test_the_panel_says_why_it_shows_another_translation(page: Page, address: str) -> None:
    type_in(page, address, SENTENCE.upper())
    open_panel(page)

    expect(page.locator("#inside-pair")).to_contain_text(SENTENCE)
    expect(page.locator("#inside-notes li")).to_contain_text([f"the model reads “{SENTENCE}”"])
    expect(page.locator("#inside-notes")).to_be_visible()


def test_the_panel_asks_only_while_it_is_open_and_follows_the_text(
    page: Page, address: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/api/v1/")[2]))
    type_in(page, address, SENTENCE)
    assert "explanation" not in asked

    open_panel(page)
    page.locator("#source").fill("Where is the dog? I see a cat.")
    expect(page.locator("#inside-pair")).to_contain_text("Where is the dog? →")
    page.get_by_label("Sentence").select_option("I see a cat.")
    expect(page.locator("#inside-pair")).to_contain_text("I see a cat. →")
    assert asked.count("explanation") == 3

    page.locator("#source").fill("")
    expect(page.locator("#inside-status")).to_have_text("Translate something first.")
    expect(page.locator("#inside-content")).to_be_hidden()


def test_the_panel_is_worked_by_keyboard_and_everything_in_it_has_a_name(
    page: Page, address: str
) -> None:
    type_in(page, address, SENTENCE)
    page.locator("#inside > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#map td")).not_to_have_count(0, timeout=WAIT)

    page.keyboard.press("Tab")
    expect(page.locator("input[value=cross]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#kind-note")).to_contain_text("each token of the source")
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="layer 1, mean of the heads")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#map-title")).to_have_text("Layer 1, head 2")
    page.keyboard.press("Tab")
    expect(page.get_by_role("region", name="Layer 1, head 2")).to_be_focused()

    named = page.locator("#inside").locator("input, select, table, svg[role=img], [role=region]")
    unnamed = named.evaluate_all(
        "all => all.filter(e => !e.ariaLabel && !e.labels?.length"
        " && !e.getAttribute('aria-labelledby')).map(e => e.id || e.outerHTML)"
    )
    assert unnamed == []


def test_why_there_is_nothing_to_be_seen_is_said_in_the_panel(
    page: Page, copying: tuple[Copier, ServedModel]
) -> None:
    with serving([copying[1]]) as url:
        type_in(page, url, "the cat")
        page.locator("#inside > summary").click()

        expect(page.locator("#inside-status")).to_have_text(
            "This server cannot look inside this model: it has a copy without its weights"
        )
        expect(page.locator("#inside-content")).to_be_hidden()


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[str]:
    """Serve a model that writes markup."""
    directory = save_small_model(tmp_path, vocabulary=[ATTACK, "<script>alert(2)</script>", "cat"])
    update_description(directory.path, alignment=ALIGNMENT)
    with serving([loaded(directory.path)]) as url:
        yield url


def test_no_piece_of_any_panel_is_ever_markup(page: Page, hostile: str) -> None:
    def make_worse(route: Route) -> None:
        answer = route.fetch().json()
        answer["source_pieces"] = [ATTACK for _ in answer["source_pieces"]]
        answer["read_pieces"] = [ATTACK for _ in answer["read_pieces"]]
        route.fulfill(json=answer)

    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.route("**/api/v1/explanation", make_worse)
    type_in(page, hostile, "<b cat")
    before = page.locator("img, script, b").count()
    page.locator("#translation .word").first.hover()
    expect(page.locator("#aligned")).to_contain_text("<b")

    open_panel(page)
    for kind in ("cross", "encoder", "decoder"):
        page.locator(f"input[value={kind}]").check()
        page.locator("#map tbody tr").first.hover()
        expect(page.locator("#map-note")).to_contain_text(ATTACK)
    page.get_by_text("Every candidate, step by step").click()

    for place in ("#tokens", "#map", "#beam", "#beam title", "#steps", "#inside-pair"):
        assert re.search("<(img|script|b)", " ".join(page.locator(place).all_text_contents())), (
            place
        )
    expect(page.locator("#source-marks")).to_contain_text("<b cat")
    num_tokens = page.locator("#tokens > li > b").count()
    assert page.locator("img, script, b").count() == before + num_tokens


def test_the_numbers_of_dropped_candidates_can_be_read(page: Page, address: str) -> None:
    type_in(page, address, SENTENCE)
    open_panel(page)

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST_OF_DROPPED, "#inside") >= LEAST_CONTRAST, scheme


def test_a_token_from_right_to_left_has_its_space_at_the_right(page: Page, address: str) -> None:
    word = "▁ري"

    def turn(route: Route) -> None:
        answer = route.fetch().json()
        for pieces in ("source_pieces", "read_pieces"):
            answer[pieces] = [word for _ in answer[pieces]]
        for token in answer["tokens"]:
            token |= {
                "piece": word,
                "others": [{**other, "piece": word} for other in token["others"]],
            }
        for candidate in itertools.chain(*answer["beam"]["steps"]):
            candidate["piece"] = word
        drawn = answer["beam"]["drawing"]
        answer["beam"]["drawing"] = re.sub("(<text[^>]*>)[^<]+", rf"\1{word}", drawn)
        route.fulfill(json=answer)

    page.route("**/api/v1/explanation", turn)
    type_in(page, address, SENTENCE)
    open_panel(page)
    page.get_by_text("Every candidate, step by step").click()

    for place in ("#tokens", "#map", "#beam", "#steps"):
        space_is_last = page.locator(place).evaluate(SPACE_IS_LAST, word)
        assert space_is_last, place
        assert not any(space_is_last), place


@pytest.mark.parametrize("width", [320, 390, 1300])
def test_the_panel_does_not_stick_out_of_a_phone(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    type_in(page, address, f"{SENTENCE} Where is the dog?")
    open_panel(page)
    page.get_by_text("Every candidate, step by step").click()

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#map th[scope=row]").first.is_visible()
