"""The sinusoids of section 3.5, as tables that can be drawn."""

import math
from dataclasses import dataclass

import numpy as np

from dragoman.errors import UsageError
from dragoman.model.positional_encoding import Convention, sinusoids


@dataclass(frozen=True, kw_only=True)
class PositionTables:
    """What can be seen of an encoding of positions."""

    encodings: np.ndarray
    """Of shape (positions, d_model), from -1 to 1."""

    sines: np.ndarray
    """Those of the encodings, of shape (positions, d_model / 2): one for each wavelength."""

    similarities: np.ndarray
    """Of shape (positions, positions): dot products of encodings, divided by that of a position
    with itself, which is d_model / 2."""

    wavelengths: np.ndarray
    """Of shape (d_model / 2,): positions until the sine and cosine of a pair repeat."""


def position_tables(
    num_positions: int, d_model: int, convention: Convention = "interleaved"
) -> PositionTables:
    """Compute the tables.

    Raises:
        UsageError: d_model is odd, or a size is not positive.
    """
    if num_positions < 1 or d_model < 1:
        raise UsageError(f"{num_positions} positions of d_model={d_model}: both should be above 0")
    try:
        encodings = sinusoids(num_positions, d_model, convention).double().numpy()
    except ValueError as error:
        raise UsageError(str(error)) from error
    half = d_model // 2
    steps = max(half - 1, 1) if convention == "tensor2tensor" else half
    return PositionTables(
        encodings=encodings,
        sines=encodings[:, ::2] if convention == "interleaved" else encodings[:, :half],
        similarities=encodings @ encodings.T / half,
        wavelengths=2 * math.pi * 10000.0 ** (np.arange(half) / steps),
    )
