"""The page, in a real browser."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.serving.chromium import CHROMIUM
from tests.serving.live import Copier, changed, loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings
from dragoman.translator import Translator

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def test_what_is_typed_is_translated_with_alternatives(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Text to translate", exact=True).last.fill("The cat is on the table.")

    expect(page.locator("#translation")).not_to_be_empty()
    expect(page.locator("#translation")).to_have_attribute("lang", "it")
    expect(page.locator("#alternatives li")).not_to_have_count(0)
    expect(page.locator("#count")).to_have_text("24 / 200,000")
    expect(page.locator("#engine")).to_contain_text("PyTorch")

    best = page.locator("#translation").inner_text()
    other = page.locator("#alternatives li").first.inner_text()
    page.locator("#alternatives button").first.click()
    expect(page.locator("#translation")).to_have_text(other)
    expect(page.locator("#alternatives li").first).to_have_text(best)

    page.locator("#source").fill("")
    expect(page.locator("#translation")).to_be_empty()
    expect(page.locator("#alternatives-section")).to_be_hidden()


def test_whoever_types_without_a_pause_sees_a_translation_meanwhile(
    page: Page, copying: tuple[Copier, ServedModel]
) -> None:
    with serving([copying[1]]) as url:
        page.goto(url)
        page.locator("#source").fill("the cat")
        page.evaluate(
            """() => {
                const source = document.getElementById("source");
                window.typing = setInterval(() => {
                    source.value += source.value.length % 8 ? "a" : " ";
                    source.dispatchEvent(new Event("input"));
                }, 50);
            }"""
        )
        expect(page.locator("#translation")).to_contain_text(re.compile("the cata"))
        first = page.locator("#translation").inner_text()
        expect(page.locator("#translation")).not_to_have_text(first)

        page.evaluate("clearInterval(window.typing)")
        whole = page.locator("#source").input_value()
        expect(page.locator("#translation")).to_have_text(whole)


def test_a_word_offers_others_and_the_translation_goes_on_from_the_chosen_one(
    page: Page, address: str
) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat")
    expect(page.locator("#translation .word")).not_to_have_count(0)
    before = page.locator("#translation").inner_text()
    first = page.locator("#translation .word").first

    first.click()
    expect(page.locator("#ways-title")).to_have_text(f"Instead of “{first.inner_text()}”")
    expect(page.locator("#ways li")).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#ways-section")).to_be_hidden()

    first.click()
    other = page.locator("#ways button").filter(has_not_text=first.inner_text()).first
    expected = other.get_attribute("title")
    other.click()
    assert expected != before
    expect(page.locator("#translation")).to_have_text(str(expected))
    expect(page.locator("#translation .word")).not_to_have_count(0)

    page.locator("#alternatives button").first.click()
    expect(page.locator("#alternatives button").first).to_have_text(str(expected))


def test_a_language_without_spaces_has_words_to_choose_and_to_light_up(
    page: Page, english_japanese: Path
) -> None:
    translator = Translator(english_japanese, device="cpu")
    with serving([loaded(english_japanese)]) as url:
        page.goto(url)
        page.locator("#source").fill("The cat is on the table.")
        words = page.locator("#translation .word")
        expect(words).not_to_have_count(0)
        before = page.locator("#translation").inner_text()
        assert words.all_inner_texts() == translator.target_words(before)

        third = words.nth(2)
        third.hover()
        expect(third).to_have_class(re.compile("lit"))
        expect(page.locator("#aligned")).to_contain_text(f"↔ {third.inner_text()}")
        third.click()
        expect(page.locator("#ways-title")).to_have_text(f"Instead of “{third.inner_text()}”")
        other = page.locator("#ways button").filter(has_not_text=third.inner_text()).first
        chosen = other.get_attribute("title")
        other.click()
        expect(page.locator("#translation")).to_have_text(str(chosen))
        assert words.all_inner_texts() == translator.target_words(str(chosen))
        assert str(chosen).startswith("".join(translator.target_words(before)[:2]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("12:30", "There are no other words for “12:30”"),
        ("a <b>cat</b>", "No other words are given for a sentence with tags or escapes"),
    ],
)
def test_where_there_are_no_other_words_the_page_says_so(
    page: Page, copier: tuple[Copier, ServedModel], text: str, said: str
) -> None:
    with serving([copier[1]]) as url:
        page.goto(url)
        page.locator("#source").fill(text)
        page.locator("#translation .word").first.click()

        expect(page.locator("#status")).to_contain_text(said)
        expect(page.locator("#ways-section")).to_be_hidden()


def test_other_words_are_not_shown_for_a_word_that_has_none(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat is here. Where is <b>the dog</b>?")
    page.locator("#translation .word[data-sentence='0']").first.click()
    expect(page.locator("#ways-section")).to_be_visible()

    page.locator("#translation .word[data-sentence='1']").first.click()

    expect(page.locator("#status")).to_contain_text("No other words are given")
    expect(page.locator("#ways-section")).to_be_hidden()


def test_languages_are_chosen_detected_and_swapped(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat is on the table.")
    expect(page.locator("#alternatives li")).not_to_have_count(0)
    translated = page.locator("#translation").inner_text()

    page.get_by_label("Swap the languages").click()
    expect(page.locator("#source")).to_have_value(translated)
    expect(page.locator("#source-language")).to_have_value("it")
    expect(page.locator("#translation")).to_have_attribute("lang", "en")

    page.get_by_label("Translate from").select_option("Detect language")
    expect(page.get_by_label("Swap the languages")).to_be_disabled()
    page.get_by_label("Translate to").select_option("English")
    page.locator("#source").fill("Dov'è il gatto? Non lo so.")
    expect(page.locator("#status")).to_contain_text("From Italian")


def test_an_answer_that_comes_late_never_overwrites_a_newer_one(
    page: Page, copying: tuple[Copier, ServedModel]
) -> None:
    released = threading.Event()

    def delay(route: Any) -> None:
        if "first" in route.request.post_data and not released.is_set():
            held.append(route)
        else:
            route.continue_()

    held: list[Any] = []
    with serving([copying[1]]) as url:
        page.route("**/api/v1/translate/stream", delay)
        page.goto(url)
        page.locator("#source").fill("the first cat")
        page.locator("#source").press("Control+Enter")
        expect(page.locator("#translation")).to_have_attribute("aria-busy", "true")
        page.locator("#source").fill("the second dog")
        page.locator("#source").press("Control+Enter")
        expect(page.locator("#translation")).to_have_text("the second dog")
        released.set()
        for route in held:
            route.fulfill(body='{"source": "late", "text": "late"}\n')
        page.wait_for_timeout(200)
        expect(page.locator("#translation")).to_have_text("the second dog")


def test_nothing_can_be_pressed_in_vain_before_the_server_has_answered(
    page: Page, address: str
) -> None:
    held = hold(page, "**/frontend/settings")
    page.goto(address)
    swap, others = page.get_by_label("Swap the languages"), page.locator("button:not(#theme)")

    assert [button.is_disabled() for button in others.all()] == [True] * others.count()

    let_through(page, held)
    expect(swap).to_be_enabled()


def test_swapping_the_languages_keeps_a_text_that_is_not_translated_yet(
    page: Page, address: str
) -> None:
    page.route("**/api/v1/translate/stream", lambda route: None)  # no answer comes
    page.goto(address)
    page.locator("#source").fill("My long and careful text.")
    page.get_by_label("Swap the languages").click()

    expect(page.locator("#source-language")).to_have_value("it")
    expect(page.locator("#source")).to_have_value("My long and careful text.")


def test_swapping_the_languages_leaves_no_marks_behind_the_new_text(
    page: Page, address: str
) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat is on the table.")
    expect(page.locator("#source-marks span")).to_have_count(6)
    page.route("**/api/v1/translate/stream", lambda route: None)  # no answer comes
    page.get_by_label("Swap the languages").click()

    expect(page.locator("#source")).not_to_have_value("The cat is on the table.")
    expect(page.locator("#source-marks span")).to_have_count(0)


@pytest.mark.parametrize(("start", "selected"), [(0, "the old cat is on"), (1, "old cat is on")])
def test_part_of_a_translation_can_be_selected(
    page: Page, copying: tuple[Copier, ServedModel], start: int, selected: str
) -> None:
    with serving([copying[1]]) as url:
        page.goto(url)
        page.locator("#source").fill("the old cat is on the table")
        words = page.locator("#translation .word")
        expect(words).to_have_count(7)
        first, last = (words.nth(place).bounding_box() for place in (start, 4))
        assert first is not None
        assert last is not None
        page.mouse.move(first["x"] + 1, first["y"] + 5)
        page.mouse.down()
        page.mouse.move(last["x"] + last["width"] - 1, last["y"] + 5)
        page.mouse.up()

        assert page.evaluate("getSelection().toString()") == selected
        expect(page.locator("#ways-section")).to_be_hidden()


def test_what_failed_leaves_no_older_translation_that_looks_like_its_own(
    page: Page, copying: tuple[Copier, ServedModel]
) -> None:
    tries = []

    def refuse(route: Any) -> None:
        tries.append(route)
        if len(tries) == 2:
            later = {"Retry-After": "1"}
            route.fulfill(status=429, headers=later, json={"error": "there is much to do"})
        else:
            route.continue_()

    with serving([copying[1]]) as url:
        page.route("**/api/v1/translate/stream", refuse)
        page.goto(url)
        page.locator("#source").fill("the first cat")
        expect(page.locator("#translation .word")).to_have_count(3)
        page.locator("#source").fill("the second dog")

        expect(page.locator("#status")).to_have_text("There is much to do")
        expect(page.locator("#translation")).to_have_attribute("data-stale", "")
        expect(page.locator("#translation .word")).to_have_count(0)
        expect(page.locator("#copy")).to_be_disabled()
        expect(page.locator("#alternatives-section")).to_be_hidden()
        # It comes again when the server said, and all is well.
        expect(page.locator("#translation")).to_have_text("the second dog")
        expect(page.locator("#translation .word")).to_have_count(3)
        expect(page.locator("#status")).to_be_empty()
        expect(page.locator("#copy")).to_be_enabled()


def test_an_answer_that_is_none_of_ours_is_told_in_words(page: Page, address: str) -> None:
    page.route(
        "**/api/v1/translate/stream",
        lambda route: route.fulfill(content_type="text/html", body="<html>log in</html>\n"),
    )
    page.goto(address)
    page.locator("#source").fill("The cat")

    expect(page.locator("#status")).to_have_text("The server does not answer")


def test_a_browser_that_keeps_nothing_still_translates(page: Page, address: str) -> None:
    page.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"])
             Object.defineProperty(window, name, {
               get() { throw new DOMException("denied", "SecurityError"); } });"""
    )
    page.goto(address)
    page.locator("#source").fill("The cat")
    expect(page.locator("#translation .word")).not_to_have_count(0)
    page.get_by_label("Dark colours").click()

    expect(page.get_by_label("Dark colours")).to_have_attribute("aria-pressed", "true")


def test_words_that_are_offered_late_do_not_take_the_caret_away(page: Page, address: str) -> None:
    held = hold(page, "**/api/v1/ways")
    page.goto(address)
    page.locator("#source").fill("The cat")
    expect(page.locator("#translation .word")).not_to_have_count(0)
    page.locator("#translation .word").first.click()
    page.locator("#source").focus()
    let_through(page, held)

    expect(page.locator("#ways li")).not_to_have_count(0)
    expect(page.locator("#source")).to_be_focused()


def hold(page: Page, address: str) -> list[Route]:
    """Let requests to an address wait, in the order in which they are made."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(address, keep)
    return held


def let_through(page: Page, held: list[Route]) -> None:
    while not held:
        page.wait_for_timeout(10)
    held.pop(0).continue_()


def answer_with(page: Page, source: str, *candidates: tuple[str, list[str]], way: str) -> None:
    """Let the server find these translations, with their faults, and one other word."""
    translation = {
        "alternatives": [
            {"text": text, "translated_parts": [text], "translated_words": [[text]], "faults": said}
            for text, said in candidates
        ],
        "parts": [source],
        "words": [[source]],
        "source_language": "en",
        "target_language": "it",
    }
    other = {"word": way, "confidence": 0.12, "translation": way, "faults": [], "words": [way]}
    page.route(
        "**/api/v1/translate/stream",
        lambda route: route.fulfill(body=json.dumps({"translation": translation}) + "\n"),
    )
    page.route("**/api/v1/ways", lambda route: route.fulfill(json={"ways": [other]}))


def test_what_is_offered_in_a_language_from_right_to_left_stands_in_its_order(
    page: Page, address: str
) -> None:
    answer_with(page, "small", ("קטן.", []), ("גדול.", []), way="גדול.")
    page.goto(address)
    page.locator("#source").fill("small")
    page.locator("#translation .word").first.click()

    for offered in ("#translation", "#alternatives button", "#ways bdi"):
        expect(page.locator(offered).first).to_have_css("direction", "rtl")
    word, share = (page.locator(f"#ways {name}").bounding_box() for name in ("bdi", ".share"))
    assert word is not None
    assert share is not None
    assert word["x"] + word["width"] <= share["x"]


def test_the_faults_that_are_told_are_those_of_what_is_shown(page: Page, address: str) -> None:
    status, alternative = page.locator("#status"), page.locator("#alternatives button")
    answer_with(page, "7", ("sei", ["lost a number"]), ("7 7", ["repeats itself"]), way="7")
    page.goto(address)
    page.locator("#source").fill("7")
    expect(status).to_have_text("The translation lost a number")

    alternative.click()
    expect(status).to_have_text("The translation repeats itself")
    alternative.click()
    expect(status).to_have_text("The translation lost a number")
    page.locator("#translation .word").click()
    page.locator("#ways button").click()
    expect(status).to_have_text("")
    alternative.click()
    alternative.click()
    expect(page.locator("#translation")).to_have_text("7")
    expect(status).to_have_text("")


def test_alternatives_of_an_older_text_are_gone_while_a_translation_grows(
    page: Page, address: str
) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat")
    expect(page.locator("#alternatives li")).not_to_have_count(0)
    page.route(
        "**/api/v1/translate/stream",
        lambda route: route.fulfill(body='{"source": "The dog. ", "text": "Il cane. "}\n'),
    )
    page.evaluate(
        """() => new MutationObserver(() => {
             const translation = document.getElementById("translation");
             window.offered ??= "growing" in translation.dataset
               ? !document.getElementById("alternatives-section").hidden : undefined;
           }).observe(document.getElementById("translation"), { childList: true })"""
    )
    page.locator("#source").fill("The dog. The cat.")

    expect(page.locator("#translation")).to_have_text("Il cane.")
    expect(page.locator("#status")).to_have_text("The server has stopped in the middle")
    assert page.evaluate("window.offered") is False


def test_a_problem_is_said_in_words(page: Page, english_italian: Path) -> None:
    with serving([loaded(english_italian)], Settings(max_characters=10)) as url:
        page.goto(url)
        page.locator("#source").fill("The cat is on the table.")

        expect(page.locator("#status")).to_have_text(
            "24 characters are too many; this server takes 10 at once"
        )
        expect(page.locator("#count")).to_have_class("number problem")


def test_a_file_is_translated_and_downloaded(page: Page, address: str, tmp_path: Path) -> None:
    (tmp_path / "letter.html").write_text("<p>The cat.</p><script>1</script>", encoding="utf-8")

    page.goto(address)
    page.get_by_label("A text or a document").set_input_files(tmp_path / "letter.html")
    page.locator("#translate-file").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download letter.it.html").click()

    assert download.value.suggested_filename == "letter.it.html"
    content = download.value.path().read_text(encoding="utf-8")
    assert content.startswith("<p>")
    assert content.endswith("</p><script>1</script>")

    page.locator("#file").set_input_files(
        {"name": "a.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}
    )
    page.locator("#translate-file").click()
    expect(page.locator("#file-status")).to_contain_text("a.pdf: files whose names end in .pdf")


def test_a_file_chosen_before_the_server_has_answered_can_be_translated(
    page: Page, address: str
) -> None:
    held = hold(page, "**/frontend/settings")
    page.goto(address)
    page.locator("#file").set_input_files(
        {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"The cat."}
    )
    expect(page.locator("#translate-file")).to_be_disabled()

    let_through(page, held)

    page.locator("#translate-file").click()
    expect(page.get_by_role("link", name="Download letter.it.txt")).to_be_visible()


def test_files_are_translated_one_after_the_other_into_the_language_chosen_when_sent(
    page: Page, copier: tuple[Copier, ServedModel]
) -> None:
    held = hold(page, "**/translate_file")
    button, status = page.locator("#translate-file"), page.locator("#file-status")
    with serving([copier[1], changed(copier[1], target="fr")]) as url:
        page.goto(url)
        for name in ("first.txt", "second.txt"):
            page.locator("#file").set_input_files(
                {"name": name, "mimeType": "text/plain", "buffer": b"the cat"}
            )
            expect(button).to_have_js_property("disabled", False)  # the server has answered
            button.focus()
            page.keyboard.press("Enter")
            expect(status).to_have_text("Translating…")
        page.locator("#target-language").select_option("fr")
        button.focus()
        expect(button).to_be_focused()
        let_through(page, held)
        with page.expect_download() as download:
            status.get_by_role("link", name="Download first.it.txt").click()
        assert download.value.suggested_filename == "first.it.txt"
        assert held == []  # the second file can be sent now that the first one is there
        button.click()
        expect(status).to_have_text("Translating…")


def test_a_server_with_a_key_asks_for_it(page: Page, english_italian: Path) -> None:
    with serving([loaded(english_italian)], Settings(api_keys=("sesame",))) as url:
        page.goto(url)
        page.locator("#source").fill("The cat.")
        expect(page.locator("#status")).to_have_text("The API key is missing or wrong")
        page.get_by_label("This server asks for an API key").fill("sesame")
        page.locator("#source").press("Control+Enter")
        expect(page.locator("#translation")).not_to_be_empty()


def test_everything_is_reached_by_keyboard_in_the_order_it_is_read(
    page: Page, address: str
) -> None:
    page.goto(address)
    page.locator("#source").fill("The cat is on the table.")
    expect(page.locator("#alternatives button").first).to_be_visible()
    page.locator("#source-language").focus()

    reached = []
    for _ in range(9):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.keyboard.press("Tab")

    assert reached == [
        "source-language",
        "swap",
        "source",
        "target-language",
        "copy",
        "translation",
        "SPAN",
        "BUTTON" if page.locator("#alternatives button").count() > 1 else "file",
        reached[8],
    ]
    unnamed = page.locator("button, select, textarea, input").evaluate_all(
        "all => all.filter(e => !e.textContent.trim() && !e.ariaLabel && !e.labels?.length)"
        ".map(e => e.id)"
    )
    assert unnamed == []


@pytest.mark.parametrize("width", [320, 375, 1300])
def test_nothing_sticks_out_of_a_phone(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    for path in ("/", "/docs"):
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_colours_follow_the_system_until_the_reader_chooses(page: Page, address: str) -> None:
    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.emulate_media(color_scheme="dark")
    page.goto(address)
    dark = paper()
    page.get_by_label("Dark colours").click()
    light = paper()
    page.reload()

    assert dark == "rgb(20, 24, 26)"
    assert paper() == light == "rgb(246, 245, 241)"
    expect(page.get_by_label("Dark colours")).to_have_attribute("aria-pressed", "false")


def test_the_description_of_the_interface_is_a_page_that_loads_nothing_from_elsewhere(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/docs")

    for path in ("/api/v1/translate", "/translate_file", "/v2/document/{name}/result"):
        expect(page.get_by_role("heading", name=path, exact=False).first).to_be_visible()
    expect(page.locator("article", has_text="POST /translate_file")).to_contain_text("file")


def test_the_descriptions_of_the_interface_are_sentences_with_their_code_set_apart(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/docs")

    translate = page.locator("article", has_text="POST /api/v1/translate").first
    expect(translate).to_contain_text("the model must be able to. Default: false.")
    expect(translate).to_contain_text("Required. A language code.")
    streamed = page.locator("article", has_text="POST /api/v1/translate/stream")
    expect(streamed.locator("p code").first).to_have_text("source")
    expect(page.locator("main")).not_to_contain_text("`")


ATTACKS = [
    "\"'><img src=x onerror=alert(1)>",
    "</textarea></script><script>alert(1)</script>",
    "javascript:alert(1)//",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_page_shows_becomes_markup(
    page: Page, copying: tuple[Copier, ServedModel], attack: str
) -> None:
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.on("popup", lambda popup: pytest.fail(popup.url))
    hostile = changed(copying[1], name=attack, target=f"it-{attack}")
    with serving([hostile]) as url:
        page.goto(url)
        page.locator("#source").fill(f"a cat {attack}")
        expect(page.locator("#translation")).to_have_text(f"a cat {attack}")
        page.locator("#file").set_input_files(
            {"name": f"{attack}.txt".replace("/", ":"), "mimeType": "text/html", "buffer": b"a cat"}
        )
        page.locator("#translate-file").click()
        expect(page.locator("#file-status a")).to_have_attribute("href", re.compile("^(blob:|/)"))
        page.locator("#file").set_input_files(
            {"name": f"{attack}.exe".replace("/", ":"), "mimeType": "text/html", "buffer": b"a"}
        )
        page.locator("#translate-file").click()
        expect(page.locator("#file-status")).to_contain_text("only files whose names end in")
        page.route(
            "**/api/v1/translate/stream",
            lambda route: route.fulfill(status=400, json={"error": attack}),
        )
        page.locator("#source").fill("the dog")
        expect(page.locator("#status")).to_contain_text(attack[1:])
        assert (
            page.locator("img:not([src^='/static/']), svg[onload], script:not([src])").count() == 0
        )
        assert page.locator("[onerror], [onload], a[href^='javascript:']").count() == 0


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_allows_no_script_that_is_not_in_a_file_of_ours(
    page: Page, address: str, path: str
) -> None:
    answer = page.goto(address + path)
    assert answer is not None
    policy = answer.headers["content-security-policy"]

    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    blocked = page.evaluate(
        """() => new Promise(done => {
            document.addEventListener("securitypolicyviolation", e => done(e.violatedDirective));
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert page.evaluate("window.ran === undefined")
