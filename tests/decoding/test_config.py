"""The settings of a search: what they compute, and what they refuse."""

import math
import subprocess
import sys
from typing import Any

import pytest

from dragoman.corpora.batching_config import MAX_TOKENS_OF_A_SENTENCE
from dragoman.decoding.config import LEAST_TEMPERATURE, RANGES, SearchConfig


def test_the_length_penalty_is_that_of_the_paper() -> None:
    config = SearchConfig(length_penalty=0.6)

    assert config.penalty(1) == 1.0
    assert config.penalty(19) == pytest.approx(4**0.6)
    assert SearchConfig(length_penalty=0.0).penalty(50) == 1.0


def test_the_longest_translation_follows_from_the_source() -> None:
    assert SearchConfig(max_length_ratio=1.5, max_length_extra=4).max_length(5) == 11


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, "beam_size=0 is not between 1 and 1024"),
        ({"n_best": 0}, "n_best=0 is not between 1 and 1024"),
        ({"n_best": 5}, "n_best=5 is more than beam_size=4 finds"),
        ({"max_length_extra": 0}, "max_length_extra=0 is not between"),
        ({"length_penalty": -0.1}, "length_penalty=-0.1 is not between 0 and 10"),
        ({"length_penalty": float("nan")}, "length_penalty=nan is not between"),
        ({"max_length_ratio": float("inf")}, "max_length_ratio=inf is not between"),
        ({"sampling_temperature": -1.0}, "sampling_temperature=-1.0 is not between"),
        ({"sampling_temperature": 1e-40}, "sampling_temperature=1e-40 is neither 0 nor at least"),
        ({"seed": 1}, "top_k, top_p and seed need a sampling_temperature above 0"),
        ({"top_k": -1}, "top_k=-1 is not between"),
        ({"top_p": 0.0}, r"top_p=0.0 is not in \(0, 1\]"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchConfig(**settings)


def test_the_largest_penalty_of_the_longest_translation_is_a_number() -> None:
    config = SearchConfig(
        length_penalty=float(RANGES["length_penalty"][1]),
        max_length_ratio=float(RANGES["max_length_ratio"][1]),
        max_length_extra=RANGES["max_length_extra"][1],
    )

    assert math.isfinite(config.penalty(config.max_length(MAX_TOKENS_OF_A_SENTENCE)))


def test_more_samples_than_the_beam_may_be_drawn() -> None:
    assert SearchConfig(sampling_temperature=1.0, n_best=9).samples


def test_numbers_of_numpy_are_numbers() -> None:
    program = """
import numpy as np
from dragoman import SearchConfig

config = SearchConfig(beam_size=np.int64(3), length_penalty=np.float32(0.5))
assert config == SearchConfig(beam_size=3, length_penalty=0.5)
print(type(config.beam_size).__name__, type(config.length_penalty).__name__)
for name, wrong in dict(beam_size=np.float64(2), n_best=True, top_p="1", seed=None).items():
    try:
        SearchConfig(**{name: wrong})
    except ValueError as error:
        print(error)
"""  # in a process of its own, where nothing else looks at types

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines() == [
        "int float",
        "beam_size=np.float64(2.0) is not a whole number",
        "n_best=True is not a whole number",
        "top_p='1' is not a number",
        "seed=None is not a whole number",
    ], done.stderr


def test_what_is_particular_to_sampling_is_left_out_of_a_search() -> None:
    sampling = SearchConfig(sampling_temperature=0.5, top_k=3, top_p=0.9, seed=7, n_best=9)

    assert sampling.without_sampling() == SearchConfig()


def test_the_least_temperature_may_be_asked_for() -> None:
    assert SearchConfig(sampling_temperature=LEAST_TEMPERATURE).samples
