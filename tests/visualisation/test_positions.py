"""The tables are those of the paper's formula, computed here number by number."""

import math

import numpy as np
import pytest

from dragoman.errors import UsageError
from dragoman.model.positional_encoding import Convention
from dragoman.visualisation.position_figure import position_figure
from dragoman.visualisation.positions import position_tables

LENGTH, D_MODEL = 7, 6


def test_encodings_and_likeness_follow_from_the_formula() -> None:
    tables = position_tables(LENGTH, D_MODEL)

    def encode(position: int) -> list[float]:
        angles = [position / 10000 ** (2 * i / D_MODEL) for i in range(D_MODEL // 2)]
        return [f(angle) for angle in angles for f in (math.sin, math.cos)]

    assert tables.encodings == pytest.approx(np.array([encode(p) for p in range(LENGTH)]), abs=1e-6)
    dot = sum(a * b for a, b in zip(encode(2), encode(5), strict=True))
    assert tables.similarities[2, 5] == pytest.approx(dot / 3, abs=1e-6)
    assert np.diag(tables.similarities) == pytest.approx(np.ones(LENGTH), abs=1e-6)


@pytest.mark.parametrize("convention", ["interleaved", "marian", "tensor2tensor"])
def test_after_its_wavelength_a_pair_is_where_it_was(convention: Convention) -> None:
    tables = position_tables(2, D_MODEL, convention)

    # A position is a turn of 2 pi / wavelength.
    assert np.sin(2 * np.pi / tables.wavelengths) == pytest.approx(tables.sines[1], rel=1e-5)


def test_the_figure_shows_the_tables() -> None:
    tables = position_tables(LENGTH, D_MODEL)

    encodings, likeness, waves = position_figure(tables, "$name$").axes[:3]

    assert np.array_equal(np.asarray(encodings.images[0].get_array()), tables.encodings)
    assert np.array_equal(np.asarray(likeness.images[0].get_array()), tables.similarities)
    assert np.array_equal(waves.lines[0].get_ydata(), tables.wavelengths)
    assert waves.lines[0].get_marker() == "."  # as there is a single one if d_model is 2


@pytest.mark.parametrize(("length", "d_model"), [(5, 7), (0, 4), (5, 0)])
def test_sizes_that_make_no_sense_are_refused(length: int, d_model: int) -> None:
    with pytest.raises(UsageError, match=f"d_model={d_model}"):
        position_tables(length, d_model)
