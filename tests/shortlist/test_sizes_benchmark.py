"""`benchmarks/shortlist.py` learns once, and cuts the sizes that it compares out of that."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from dragoman.shortlist.shortlist import ShortlistConfig

from .test_shortlist import learn

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("size", [(1, 1), (2, 0), (100, 100)])
def test_what_is_cut_is_what_would_be_learnt(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a text in which no token has as many translations as are asked for."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    benchmark = importlib.import_module("shortlist")
    largest = learn(ShortlistConfig(frequent=200, translations=200))

    part = benchmark.cut(largest, *size)

    learnt = learn(ShortlistConfig(frequent=size[0], translations=size[1]))
    np.testing.assert_array_equal(part.frequent, learnt.frequent)
    np.testing.assert_array_equal(part.translations, learnt.translations)
