"""What the interface tells of a translation is what `dragoman explain` writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests
from tests.serving.live import Copier, serving

from dragoman.model_directory import ModelDirectory
from dragoman.serving.explanation import DECIMALS, NUM_RIVALS
from dragoman.serving.models import ServedModel
from dragoman.visualisation.beam_tree import beam_tree
from dragoman.visualisation.trace import Trace, trace_translation

SENTENCE = "The cat is on the table."
PAIR = {"source": "en", "target": "it"}


def post(address: str, **fields: Any) -> requests.Response:
    return requests.post(f"{address}/api/v1/explanation", json={**PAIR, **fields}, timeout=30)


@pytest.fixture(scope="module")
def trace(english_italian: Path) -> Trace:
    directory = ModelDirectory(english_italian)
    return trace_translation(directory, SENTENCE, directory.search)


@pytest.fixture(scope="module")
def explanation(address: str) -> Any:
    return post(address, text=SENTENCE).json()


def test_texts_and_pieces_are_those_of_the_trace(explanation: Any, trace: Trace) -> None:
    assert (explanation["text"], explanation["translation"]) == (SENTENCE, trace.target.text)
    assert tuple(explanation["source_pieces"]) == trace.source.pieces
    assert tuple(explanation["read_pieces"]) == trace.target.pieces
    assert tuple(token["piece"] for token in explanation["tokens"]) == trace.predicted.pieces
    assert explanation["score"] == pytest.approx(trace.search.hypotheses[0].score, abs=1e-5)


def test_a_sentence_is_explained_as_the_model_is_shown_it(address: str, explanation: Any) -> None:
    assert explanation["notes"] == []

    for text in (SENTENCE.upper(), f"- {SENTENCE}", "The <b>cat</b> is on the table."):
        found = post(address, text=text).json()
        note, *others = found.pop("notes")
        assert bool(others) is ("<b>" in text)
        assert note.startswith(f"the model reads “{SENTENCE}”")
        assert found == {name: value for name, value in explanation.items() if name != "notes"}


@pytest.mark.parametrize(
    ("kind", "stack", "sublayer"),
    [("encoder", "encoder", 0), ("decoder", "decoder", 0), ("cross", "decoder", 1)],
)
def test_every_weight_is_that_of_the_trace(
    explanation: Any, trace: Trace, kind: str, stack: str, sublayer: int
) -> None:
    layers = vars(trace.streams)[stack].layers
    expected = np.stack([layer[sublayer].weights for layer in layers])

    found = np.array(explanation["attention"][kind])

    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=0.51 * 10**-DECIMALS)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-2)


def test_probabilities_and_their_rivals_are_those_of_the_trace(
    explanation: Any, trace: Trace
) -> None:
    for token, row, i in zip(
        explanation["tokens"], trace.log_probabilities, trace.predicted.ids, strict=True
    ):
        assert token["log_probability"] == pytest.approx(row[i], abs=1e-5)
        assert token["probability"] == pytest.approx(np.exp(row[i]), abs=1e-6)
        assert token["place"] == 1 + (row > row[i]).sum()
        best = [int(j) for j in np.argsort(-row)[:NUM_RIVALS] if j != i]
        assert [rival["piece"] for rival in token["others"]] == [trace.vocabulary[j] for j in best]
        found = [rival["probability"] for rival in token["others"]]
        assert found == pytest.approx(list(np.exp(row[best])), abs=1e-6)


def test_the_search_is_that_of_the_trace(explanation: Any, trace: Trace) -> None:
    beam = explanation["beam"]

    assert (beam["size"], beam["max_length"]) == (2, trace.search.max_length)
    for step, expected in zip(beam["steps"], trace.search.steps, strict=True):
        for candidate, traced in zip(step, expected.candidates, strict=True):
            assert candidate["piece"] == trace.vocabulary[traced.ids[-1]]
            assert candidate["parent"] == traced.parent
            assert candidate["fate"] == traced.fate
            numbers = ("token_log_probability", "log_probability", "score")
            assert [candidate[name] for name in numbers] == pytest.approx(
                [vars(traced)[name] for name in numbers], abs=1e-5
            )
    assert beam["drawing"] == beam_tree(trace.search, trace.vocabulary)
    assert beam["ending"].startswith("The search is over after")
    assert {c["reason"] for step in beam["steps"] for c in step if c["fate"] == "lives on"} == {
        "lives on: among the first 2 that do not end"
    }


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({}, 400, "text is missing"),
        ({"text": " \n"}, 400, "the sentence is blank; give some words"),
        ({"text": "cat " * 65}, 413, "tokens, and at most 64 are taken here"),
        ({"text": "c" * 2001}, 400, "text: string should have at most 2000 characters"),
        ({"text": "a cat", "target": "fr"}, 400, "'fr' is not served"),
    ],
)
def test_what_cannot_be_explained_is_said_in_a_sentence(
    address: str, fields: dict[str, Any], status: int, message: str
) -> None:
    answer = post(address, **fields)

    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_a_model_without_its_weights_cannot_be_looked_into(
    copying: tuple[Copier, ServedModel],
) -> None:
    with serving([copying[1]]) as url:
        answer = post(url, text="a cat")

    assert answer.status_code == 400
    assert answer.json() == {
        "error": "this server cannot look inside this model: it has a copy without its weights"
    }
