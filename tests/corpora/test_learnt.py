"""Sentences of a test set that a model has learnt from, found in its training text."""

from pathlib import Path
from typing import Any

import pytest

from dragoman.corpora import huggingface, learnt
from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.learnt import count_learnt

LANGUAGES = ("en", "it")
TEST = ["One dog.", "one dog", "A cat!", "A bird.", "…"]


def trained_on(*files: Path, **corpora: Any) -> dict[str, Any]:
    """Describe a training as a model does."""
    paths = [{"path": str(path)} for path in files]
    recorded = {str(path): fingerprint_file(path) for path in files}
    return {"recipe": {"corpora": {"train": paths, **corpora}}, "sha256": recorded}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.tsv"
    path.write_text("A house.\tUna casa.\nOne Dog\tUn cane.\na cat.\tUn gatto.\n…\t…\n")
    return path


def test_sentences_are_found_however_they_are_written(text: Path) -> None:
    assert count_learnt(TEST, [trained_on(text)], LANGUAGES) == 3
    assert count_learnt(["A bird."], [trained_on(text)], LANGUAGES) == 0


def test_what_the_recipe_kept_out_was_not_learnt(text: Path, tmp_path: Path) -> None:
    held = tmp_path / "held.tsv"
    held.write_text("A cat.\tUn gatto.\n")
    corpora = {"test": [{"path": str(held)}], "overlap": "drop"}
    training = trained_on(text, **corpora)
    training["sha256"][str(held)] = fingerprint_file(held)
    assert count_learnt(TEST, [training], LANGUAGES) == 2


def test_text_that_is_gone_or_has_changed_says_nothing(text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("A bird.\tUn uccello.\n")
    training = trained_on(text, other)
    text.write_text("A cat.\tUn gatto.\n")
    assert count_learnt(TEST, [training], LANGUAGES) == 1
    other.unlink()
    assert count_learnt(TEST, [training], LANGUAGES) == 0
    nowhere = {"recipe": {"corpora": {"train": [{"path": "a" * 300}]}}, "sha256": {"a" * 300: "0"}}
    assert count_learnt(TEST, [nowhere], LANGUAGES) == 0  # nor what the system does not look at


def test_text_on_the_hub_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "read_hub", lambda *_: [("A cat.", "Un gatto.", 1)])
    training = {"recipe": {"corpora": {"train": [{"path": "hf:somebody/text"}]}}, "sha256": {}}
    assert count_learnt(TEST, [training], LANGUAGES) == 0


@pytest.mark.parametrize("training", [{}, {"recipe": {}}, {"recipe": {"corpora": {"new": 1}}}])
def test_a_model_that_does_not_say_what_it_has_learnt_from_is_left_alone(
    training: dict[str, Any],
) -> None:
    assert count_learnt(TEST, [training], LANGUAGES) == 0


def test_the_beginning_of_a_long_text_has_to_do(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learnt, "MOST_PAIRS", 2)
    assert count_learnt(TEST, [trained_on(text)], LANGUAGES) == 2
