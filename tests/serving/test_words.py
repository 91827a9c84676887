"""Words and the ways to go on, as the translator gives them."""

import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.questions import MOST_WAITING
from dragoman.serving.settings import Settings
from dragoman.translator import Translator

SENTENCE = "The cat is on the table."
PAIR = {"source": "en", "target": "it"}


def post(address: str, path: str, **fields: Any) -> Any:
    return requests.post(f"{address}/api/v1/{path}", json={**PAIR, **fields}, timeout=30)


def test_the_words_that_could_follow_are_those_of_the_translator(
    address: str, english_italian: Path
) -> None:
    expected = Translator(english_italian, device="cpu").ways_to_continue(SENTENCE, "", count=4)

    found = post(address, "ways", text=SENTENCE, count=4).json()["ways"]

    assert expected
    assert [way["word"] for way in found] == [way.word.text for way in expected]
    assert [way["translation"] for way in found] == [way.translation for way in expected]
    assert [way["faults"] for way in found] == [list(way.faults) for way in expected]
    assert [way["confidence"] for way in found] == pytest.approx(
        [way.word.confidence for way in expected], rel=1e-3
    )


def test_each_word_of_a_translation_is_judged(address: str, english_italian: Path) -> None:
    translation = "Il gatto è sul tavolo."
    expected = Translator(english_italian, device="cpu").judge(SENTENCE, translation)

    found = post(address, "words", text=SENTENCE, translation=translation).json()["words"]

    assert [word["text"] for word in found] == translation.split()
    assert [word["confidence"] for word in found] == pytest.approx(
        [word.confidence for word in expected], rel=1e-3
    )


def test_a_language_without_spaces_has_the_same_words_everywhere(english_japanese: Path) -> None:
    translator = Translator(english_japanese, device="cpu")
    fields = {"text": SENTENCE, "source": "en", "target": "ja"}
    text = "猫は机の上にいます。"

    with serving([loaded(english_japanese)]) as url:

        def ask(path: str, **more: Any) -> Any:
            return requests.post(f"{url}/api/v1/{path}", json=fields | more, timeout=30).json()

        judged = ask("words", translation=text)["words"]
        aligned = ask("alignment", translation=text)
        ways = ask("ways", prefix="猫", count=16)["ways"]
        after_sign = ask("ways", text=f"✨{SENTENCE}", prefix="✨猫", count=16)["ways"]
        (whole,) = ask("translate", words=True, n_best=2)["translations"]
        (plain,) = ask("translate")["translations"]
        streamed = requests.post(
            f"{url}/api/v1/translate/stream", json=fields | {"words": True}, timeout=30
        )

    expected = translator.target_words(text)
    assert len(expected) > 3
    assert [word["text"] for word in judged] == aligned["target_words"] == expected
    assert {j for _, j in aligned["links"]} == set(range(len(expected)))
    assert ways
    for way in ways:
        assert way["words"][:2] == ["猫", way["word"]]
    assert after_sign
    for way in ways + after_sign:
        assert way["words"] == translator.target_words(way["translation"])
    assert whole["words"] == [SENTENCE.split()]
    for each in whole["alternatives"]:
        assert each["translated_words"] == [translator.target_words(each["text"])]
    assert (plain["words"], plain["translated_words"]) == (None, None)
    last = json.loads(streamed.text.splitlines()[-1])["translation"]
    assert last["translated_words"] == whole["translated_words"]


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({}, 400, "text"),
        ({"text": "a cat", "count": 0}, 400, "count"),
        ({"text": "a cat", "target": "fr"}, 400, "'fr' is not served"),
        (
            {"text": "a <b>cat</b>"},
            400,
            "no other words are given for a sentence with tags or escapes",
        ),
        ({"text": "a cat " * 2000}, 413, "tokens, the most that the model has seen"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    address: str, fields: dict[str, Any], status: int, message: str
) -> None:
    answer = post(address, "ways", **fields)

    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_too_many_questions_are_refused_and_later_ones_answered(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    with serving([model]) as url, ThreadPoolExecutor(MOST_WAITING + 1) as clients:
        asked = [clients.submit(post, url, "ways", text="a cat") for _ in range(MOST_WAITING + 1)]
        refused = next(as_completed(asked)).result()
        engine.gate.set()
        statuses = sorted(each.result().status_code for each in asked)
        again = post(url, "ways", text="a cat")

    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert statuses == [200] * MOST_WAITING + [429]
    assert again.status_code == 200


def test_more_text_than_the_server_takes_is_not_asked_about(
    copying: tuple[Copier, ServedModel],
) -> None:
    with serving([copying[1]], Settings(max_characters=10)) as url:
        for path, fields in (
            ("ways", {"text": "a cat", "prefix": "un gat"}),
            ("words", {"text": "a cat", "translation": "un gat"}),
            ("alignment", {"text": "a cat", "translation": "un gat"}),
        ):
            answer = post(url, path, **fields)
            assert (answer.status_code, answer.json()) == (
                413,
                {"error": "11 characters are too many; this server takes 10 at once"},
            )


def test_a_question_is_not_waited_for_longer_than_a_translation(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    with serving([model], Settings(timeout=0.2)) as url:
        answer = post(url, "ways", text="a cat")
        engine.gate.set()

    assert answer.status_code == 504
