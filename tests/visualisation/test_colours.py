"""Steps are equal in Oklab, and so the scales grow darker without a break."""

import numpy as np
import pytest

from dragoman.visualisation.colours import LEAST, MOST, NEGATIVE, POSITIVE, ZERO, ramp


def hexadecimal(colour: np.ndarray) -> str:
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in colour)


def test_the_middle_of_black_and_white_is_the_grey_of_half_the_lightness() -> None:
    grey = ramp("#000000", "#ffffff", 3)[1]

    # Oklab's L is the cube root of linear light, so half of it is an eighth of the light.
    assert grey == pytest.approx(1.055 * 0.125 ** (1 / 2.4) - 0.055, abs=1e-4)


@pytest.mark.parametrize(("first", "last"), [(LEAST, MOST), (ZERO, POSITIVE), (NEGATIVE, ZERO)])
def test_a_scale_goes_from_end_to_end_and_never_back(first: str, last: str) -> None:
    colours = ramp(first, last, 64)

    assert (hexadecimal(colours[0]), hexadecimal(colours[-1])) == (first, last)
    luminance = colours**2.2 @ np.array([0.2126, 0.7152, 0.0722])
    steps = np.diff(luminance)
    assert (steps > 0).all() or (steps < 0).all()
