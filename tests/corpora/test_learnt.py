"""Sentences of a test set that a model has learnt from, found in its training text."""

from pathlib import Path
from typing import Any

import pytest

from dragoman.corpora import huggingface, learnt
from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.learnt import count_learnt, count_validated

LANGUAGES = ("en", "it")
TEST = ["One dog.", "one dog", "A cat!", "A bird.", "…"]


def trained_on(*files: Path, **corpora: Any) -> dict[str, Any]:
    """Name a model that is gone, with its training as its description has it."""
    paths = [{"path": str(path)} for path in files]
    recorded = {str(path): fingerprint_file(path) for path in files}
    recipe = {"corpora": {"train": paths, **corpora}}
    return {"model": "gone", "training": {"recipe": recipe, "sha256": recorded}}


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
    model = trained_on(text, **corpora)
    model["training"]["sha256"][str(held)] = fingerprint_file(held)
    assert count_learnt(TEST, [model], LANGUAGES) == 2


def test_what_was_held_out_to_validate_was_not_learnt(text: Path, tmp_path: Path) -> None:
    held_out = tmp_path / "run" / "data" / "validation.tsv"
    held_out.parent.mkdir(parents=True)
    held_out.write_text("a cat.\tUn gatto.\n")
    model = trained_on(text) | {"model": str(tmp_path / "run")}
    assert count_learnt(TEST, [model], LANGUAGES) == 2
    mean = {"model": "mean", "training": {"models": [model]}}
    assert count_learnt(TEST, [mean], LANGUAGES) == 2
    assert count_learnt(TEST, [mean, trained_on(text)], LANGUAGES) == 3  # another has learnt it


def test_a_validation_text_with_a_name_may_have_been_learnt(text: Path, tmp_path: Path) -> None:
    named = tmp_path / "run" / "data" / "validation.tsv"
    named.parent.mkdir(parents=True)
    named.write_text("a cat.\tUn gatto.\n")
    model = trained_on(text, validation=[{"path": str(named)}], overlap="allow")
    assert count_learnt(TEST, [model | {"model": str(tmp_path / "run")}], LANGUAGES) == 3


def test_text_by_which_weights_were_chosen_is_found(text: Path, tmp_path: Path) -> None:
    named = tmp_path / "dev.tsv"
    named.write_text("A bird?\tUn uccello?\n")
    model = trained_on(text, validation=[{"path": str(named)}])
    assert count_validated(TEST, [model], LANGUAGES) == 0  # it may be another text by now
    model["training"]["sha256"][str(named)] = fingerprint_file(named)
    assert count_validated(TEST, [model], LANGUAGES) == 1
    held_out = tmp_path / "run" / "data" / "validation.tsv"
    held_out.parent.mkdir(parents=True)
    held_out.write_text("a cat.\tUn gatto.\none dog\tUn cane.\n")
    run = {"model": str(tmp_path / "run")}
    assert count_validated(TEST, [model | run], LANGUAGES) == 1  # which is a copy of the named one
    assert count_validated(TEST, [trained_on(text) | run], LANGUAGES) == 3
    parts = {"model": "both", "training": {"models": [trained_on(text) | run, model]}}
    assert count_validated(TEST, [parts], LANGUAGES) == 4


def test_text_that_is_gone_or_has_changed_says_nothing(text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("A bird.\tUn uccello.\n")
    model = trained_on(text, other)
    text.write_text("A cat.\tUn gatto.\n")
    assert count_learnt(TEST, [model], LANGUAGES) == 1
    other.unlink()
    assert count_learnt(TEST, [model], LANGUAGES) == 0
    name = "a" * 300
    recipe = {"corpora": {"train": [{"path": name}]}}
    nowhere = {"model": name, "training": {"recipe": recipe, "sha256": {name: "0"}}}
    assert count_learnt(TEST, [nowhere], LANGUAGES) == 0  # nor what the system does not look at


def test_text_on_the_hub_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "read_hub", lambda *_: [("A cat.", "Un gatto.", 1)])
    recipe = {"corpora": {"train": [{"path": "hf:somebody/text"}]}}
    model = {"model": "gone", "training": {"recipe": recipe, "sha256": {}}}
    assert count_learnt(TEST, [model], LANGUAGES) == 0


@pytest.mark.parametrize("training", [{}, {"recipe": {}}, {"recipe": {"corpora": {"new": 1}}}])
def test_a_model_that_does_not_say_what_it_has_learnt_from_is_left_alone(
    training: dict[str, Any],
) -> None:
    model = {"model": "gone", "training": training}
    assert count_learnt(TEST, [model], LANGUAGES) == 0


def test_the_beginning_of_a_long_text_has_to_do(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learnt, "MOST_PAIRS", 2)
    assert count_learnt(TEST, [trained_on(text)], LANGUAGES) == 2
