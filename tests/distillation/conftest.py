"""A teacher that a second of training has taught to say numbers digit by digit."""

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.conftest import sentences, write_lines

from dragoman.bulk.block_translator import Done
from dragoman.bulk.file_format import Block
from dragoman.bulk.files import in_this_process
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import KeptParts
from dragoman.pipeline.run import train_model
from dragoman.recipe import recipe_from_table
from dragoman.training.display import Display

RECIPE: dict[str, Any] = {
    "source_language": "en",
    "target_language": "it",
    "tokenizer": {"kind": "words", "min_frequency": 1},
    "batching": {"tokens_per_update": 256, "max_tokens_per_micro_batch": 256, "max_length": 12},
    "model": {
        "d_model": 16,
        "d_ff": 24,
        "num_heads": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 2,
        "dropout": 0.0,
    },
    "training": {
        "updates": 60,
        "validate_every": 30,
        "warmup_updates": 10,
        "learning_rate": 2e-2,
        "search_every": 10,
        "device": "cpu",
    },
    "search": {"beam_size": 2, "max_length_extra": 3},
    "evaluation": {"bootstrap_samples": 0},
    "licence": "free",
}
"""What the teacher is trained from, but for its text."""


class Counting:
    """Translates in this process, and notes how many lines; it dies after so many blocks."""

    def __init__(self, *, dies_after: int | None = None) -> None:
        self.lines = 0
        self._left = dies_after

    def __call__(self, job: Job, parts: KeptParts, blocks: Sequence[Block]) -> Iterator[Done]:
        for done in in_this_process(job, parts, blocks):
            self.lines += done.num_lines
            yield done
            if self._left is not None:
                self._left -= 1
                if self._left == 0:
                    raise KeyboardInterrupt


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write the text of the teacher: for training, validation and test."""
    folder = tmp_path_factory.mktemp("text")
    return {
        "train": write_lines(folder / "train.tsv", sentences(100, 250)),
        "validation": write_lines(folder / "validation.tsv", sentences(300, 307)),
        "test": write_lines(folder / "test.tsv", sentences(400, 405)),
    }


@pytest.fixture(scope="session")
def teacher(text: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a teacher that finishes its sentences, and makes mistakes."""
    corpora = {name: [{"path": path}] for name, path in text.items()}
    directory = tmp_path_factory.mktemp("teacher")
    train_model(
        recipe_from_table({**copy.deepcopy(RECIPE), "corpora": corpora}), directory, Display()
    )
    return directory
