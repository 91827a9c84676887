"""Dragoman's own interface: what the library knows, a client can know."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.translator import Translator

TEXT = "The cat is on the table. Where is the dog? 7"


def test_a_translation_says_what_the_translator_says(address: str, english_italian: Path) -> None:
    translator = Translator(english_italian, device="cpu")
    search = replace(translator.search, n_best=2)
    (expected,) = translator.translate([TEXT], search)

    fields: dict[str, Any] = {"text": TEXT, "source": "en", "target": "it", "n_best": 2}
    answer = requests.post(f"{address}/api/v1/translate", json=fields, timeout=30).json()
    (found,) = answer["translations"]

    assert found["text"] == expected.text
    assert found["score"] == pytest.approx(expected.score, abs=1e-5)
    assert (found["finished"], found["cut"]) == (expected.finished, expected.cut)
    assert found["parts"] == list(expected.parts)
    assert found["faults"] == list(expected.faults)
    assert [a["text"] for a in found["alternatives"]] == [a.text for a in expected.alternatives]
    assert (found["source_language"], found["target_language"]) == ("en", "it")
    assert found["confidence"] == pytest.approx(expected.confidence, abs=1e-5)
    assert found["language_confidence"] is None


def test_a_sentence_that_was_cut_is_marked(copying: tuple[Copier, ServedModel]) -> None:
    fields = {"text": ["a cat " * 300, TEXT], "source": "en", "target": "it"}

    with serving([copying[1]]) as url:
        answer = requests.post(f"{url}/api/v1/translate", json=fields, timeout=60).json()

    assert [found["cut"] for found in answer["translations"]] == [True, False]


@pytest.mark.parametrize(
    ("path", "field", "hint"),
    [
        ("translate", "n_bst", "did you mean n_best?"),
        ("translate", "colour", "there are text, target, source, n_best, words, alignments"),
        ("translate/stream", "n_bests", "did you mean n_best?"),
        ("words", "txt", "did you mean text?"),
    ],
)
def test_a_field_that_is_not_known_is_refused(
    address: str, path: str, field: str, hint: str
) -> None:
    known = {"text": TEXT, "source": "en", "target": "it", "translation": "Il gatto."}
    if path != "words":
        del known["translation"]

    answer = requests.post(f"{address}/api/v1/{path}", json={**known, field: 2}, timeout=30)

    assert answer.status_code == 400
    assert f"{field}: there is no such field; {hint}" in answer.text


def test_the_source_language_is_found_out_for_each_text(address: str) -> None:
    texts = ["Where is the dog?", "Dov'è il cane?", "7, the dog?"]
    fields: dict[str, Any] = {"text": texts, "target": "it"}

    answer = requests.post(f"{address}/api/v1/translate", json=fields, timeout=30).json()
    english, italian, other = answer["translations"]

    assert (english["source_language"], italian["source_language"]) == ("en", "it")
    assert italian["text"] == "Dov'è il cane?"
    assert english["language_confidence"] > 0.9
    assert other["parts"] == ["7, the dog?"]


def test_models_are_listed_with_engine_and_scores(address: str, english_italian: Path) -> None:
    first, second = requests.get(f"{address}/api/v1/models", timeout=30).json()

    assert (first["name"], first["source_name"]) == (english_italian.name, "English")
    assert first["engine"].startswith("PyTorch")
    assert first["scores"] == {}
    assert (second["source"], second["target"]) == ("it", "en")


def test_metrics_count_what_happened(english_italian: Path) -> None:
    with serving([loaded(english_italian)]) as url:
        for text in ("a cat", "a dog."):
            requests.post(
                f"{url}/translate", data={"q": text, "source": "en", "target": "it"}, timeout=30
            )
        requests.get(f"{url}/no/such/place", timeout=30)
        lines = requests.get(f"{url}/metrics", timeout=30).text.split("\n")

    assert 'dragoman_translated_characters_total{model="en-it"} 11.0' in lines
    assert 'dragoman_requests_total{path="/translate",status="200"} 2.0' in lines
    assert 'dragoman_requests_total{path="other",status="404"} 1.0' in lines
    assert "cat" not in "\n".join(lines)
