"""Alignments, as `dragoman translate --alignments` has them."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.alignment.aligner import Aligner
from dragoman.alignment.links import Alignment
from dragoman.serving.alignments import MOST_ALIGNED_CHARACTERS
from dragoman.serving.insight import Insight
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings
from dragoman.translation import Translation

SENTENCE = "The cat is on the table."
TRANSLATION = "Il gatto è sul tavolo."
PAIR = {"source": "en", "target": "it"}


def post(address: str, path: str, **fields: Any) -> requests.Response:
    return requests.post(f"{address}/api/v1/{path}", json={**PAIR, **fields}, timeout=30)


def links(alignment: dict[str, Any]) -> set[tuple[int, int]]:
    return {(source, target) for source, target in alignment["links"]}


def test_a_pair_is_aligned_as_the_aligner_does(address: str, english_italian: Path) -> None:
    (expected,) = Aligner(english_italian).align([(SENTENCE, TRANSLATION)])

    found = post(address, "alignment", text=SENTENCE, translation=TRANSLATION).json()

    assert found["source_words"] == SENTENCE.split()
    assert found["target_words"] == TRANSLATION.split()
    assert links(found) == expected.links


def test_words_are_counted_through_all_sentences_of_a_text(
    address: str, english_italian: Path
) -> None:
    text = " 7 \n The cat is on the table. Where  is the dog?\n"

    answer = post(address, "translate", text=[text, "a dog"], alignments=True).json()
    first, second = answer["translations"]

    pairs = list(zip(first["parts"], first["translated_parts"], strict=True))
    expected, i, j = set(), 0, 0
    for (source, target), found in zip(pairs, Aligner(english_italian).align(pairs), strict=True):
        expected |= {(i + from_word, j + to_word) for from_word, to_word in found.links}
        i, j = i + len(source.split()), j + len(target.split())
    assert first["parts"] == ["7", "The cat is on the table.", "Where  is the dog?"]
    assert links(first["alignment"]) == expected
    assert first["alignment"]["source_words"] == text.split()
    assert first["alignment"]["target_words"] == first["text"].split()
    assert second["alignment"]["source_words"] == ["a", "dog"]


def test_nothing_is_aligned_that_was_not_asked_for_or_not_translated(address: str) -> None:
    plain = post(address, "translate", text=SENTENCE).json()["translations"][0]
    fields = {"text": "Dov'è il cane?", "source": None, "alignments": True}
    left = post(address, "translate", **fields).json()["translations"][0]

    assert plain["alignment"] is None
    assert (left["source_language"], left["alignment"]) == ("it", None)


@pytest.mark.parametrize(
    ("path", "fields", "status", "message"),
    [
        ("alignment", {"text": "a cat"}, 400, "translation is missing"),
        ("alignment", {"text": "cat " * 999, "translation": "un"}, 413, "tokens, and at most"),
        ("alignment", {"text": "cat", "translation": "un " * 999}, 413, "tokens, and at most"),
        (
            "translate",
            {"text": "7" * (MOST_ALIGNED_CHARACTERS + 1), "alignments": True},
            413,
            "characters are too many to align",
        ),
        (
            "alignment",
            {"text": "un", "translation": "a", "source": "it", "target": "en"},
            400,
            "it is not known which attention of this model aligns words; where the server runs, "
            '"dragoman align MODEL" finds it',
        ),
    ],
)
def test_what_cannot_be_aligned_is_said_in_a_sentence(
    address: str, path: str, fields: dict[str, Any], status: int, message: str
) -> None:
    answer = post(address, path, **fields)

    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_too_much_to_align_is_not_translated_first(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying
    with serving([model]) as url:
        engine.asked.clear()
        too_much = post(url, "translate", text="7 " * MOST_ALIGNED_CHARACTERS, alignments=True)

    assert too_much.status_code == 413
    assert engine.asked == []


def test_models_say_what_they_can(address: str, copying: tuple[Copier, ServedModel]) -> None:
    def able(url: str) -> list[tuple[bool, bool]]:
        cards = requests.get(f"{url}/api/v1/models", timeout=30).json()
        return [(card["aligns"], card["explains"]) for card in cards]

    with serving([copying[1]]) as url:
        without_weights = able(url)

    assert able(address) == [(True, True), (False, True)]
    assert without_weights == [(False, False)]


def test_many_short_texts_take_no_longer_than_a_long_one_may(
    english_italian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    align = Insight.align_translation

    def align_slowly(self: Insight, translation: Translation) -> Alignment:
        time.sleep(0.3)
        return align(self, translation)

    monkeypatch.setattr(Insight, "align_translation", align_slowly)
    with serving([loaded(english_italian)], Settings(timeout=3.0)) as url:
        answer = post(url, "translate", text=["a dog"] * 20, alignments=True)

    assert answer.status_code == 504


def test_a_server_without_pytorch_says_so(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed

    refused = [
        post(address, "alignment", text=SENTENCE, translation=TRANSLATION),
        post(address, "explanation", text=SENTENCE),
    ]
    cards = requests.get(f"{address}/api/v1/models", timeout=30).json()

    assert [answer.status_code for answer in refused] == [400, 400]
    assert {answer.json()["error"] for answer in refused} == {
        "this server cannot look inside its models: PyTorch is not installed there"
    }
    assert [(card["aligns"], card["explains"]) for card in cards] == [(False, False)] * 2


def test_a_look_inside_is_not_waited_for_longer_than_a_translation(
    english_italian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    align = Insight.align

    def slowly(insight: Insight, source: str, target: str) -> Alignment:
        time.sleep(1)
        return align(insight, source, target)

    monkeypatch.setattr(Insight, "align", slowly)
    with serving([loaded(english_italian)], Settings(timeout=0.2)) as url:
        answer = post(url, "alignment", text=SENTENCE, translation=TRANSLATION)

    assert answer.status_code == 504
