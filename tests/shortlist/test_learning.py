"""Which pairs a shortlist is learnt from, and which measure it."""

import json
from pathlib import Path

import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.learning import learn_for_model
from dragoman.shortlist.shortlist import ShortlistConfig


@pytest.fixture
def model(tmp_path: Path) -> ModelDirectory:
    return save_small_model(tmp_path / "model")


def test_pairs_as_long_as_those_that_the_model_has_seen_are_learnt_from(
    model: ModelDirectory, tmp_path: Path
) -> None:
    longest = model.description.max_length
    sides = [" ".join(["cat"] * length) for length in (1, longest, longest + 1)]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source in sides for target in sides))

    learnt = learn_for_model(model, [str(path)], ShortlistConfig())

    assert (learnt.pairs + learnt.coverage.pairs, learnt.left_out) == (4, 5)


def test_no_source_is_both_learnt_and_measured_by(model: ModelDirectory, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    translations = ("the", "a", "black")
    path.write_text(
        "".join(f"{source}\t{t}\n" for source in ("cat", "dog", "a cat") for t in translations)
    )

    learnt = learn_for_model(model, [str(path)], ShortlistConfig())

    assert (learnt.pairs, learnt.coverage.pairs) == (6, 3)
    described = ModelDirectory(model.path).description.shortlist
    assert described is not None
    assert described.pairs == 6


def test_records_are_read_from_the_language_of_the_source(
    model: ModelDirectory, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.jsonl"
    records = [{"it": "table", "en": source} for source in ("cat", "the cat", "a cat")]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))

    learnt = learn_for_model(model, [str(path)], ShortlistConfig(frequent=0, translations=1))

    assert learnt.coverage.tokens == 1.0  # as cat calls for table
