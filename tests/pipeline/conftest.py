"""A recipe whose whole run takes a second."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.display import Display

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
NUMERI = ["nulla", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]

SMALL: dict[str, Any] = {
    "source_language": "en",
    "target_language": "it",
    "tokenizer": {"kind": "words", "min_frequency": 1},
    "batching": {"tokens_per_update": 64, "max_tokens_per_micro_batch": 64, "max_length": 12},
    "model": {
        "d_model": 16,
        "d_ff": 24,
        "num_heads": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
    },
    "training": {"updates": 3, "validate_every": 2, "warmup_updates": 1, "device": "cpu"},
    "search": {"max_length_extra": 3},
    "evaluation": {"bootstrap_samples": 0},
}

MakeRecipe = Callable[..., Recipe]


def sentences(first: int, last: int) -> list[str]:
    """Write numbers out, digit by digit, in English and Italian."""
    return [
        f"{' '.join(NUMBERS[int(d)] for d in str(n))}\t{' '.join(NUMERI[int(d)] for d in str(n))}"
        for n in range(first, last)
    ]


def write_lines(path: Path, lines: list[str]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


class Listener(Display):
    """Remembers what a person would read."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


@pytest.fixture
def display() -> Listener:
    return Listener()


@pytest.fixture
def make_recipe(tmp_path: Path) -> MakeRecipe:
    """Make a recipe with text of its own; settings are given as `section__key`."""
    corpora = {
        "train": [{"path": write_lines(tmp_path / "text" / "train.tsv", sentences(100, 150))}],
        "validation": [{"path": write_lines(tmp_path / "text" / "held.tsv", sentences(200, 207))}],
    }

    def make(**settings: Any) -> Recipe:
        table = copy.deepcopy({**SMALL, "corpora": corpora})
        for name, value in settings.items():
            section, _, key = name.rpartition("__")
            (table[section] if section else table)[key] = value
        return recipe_from_table(table)

    return make
