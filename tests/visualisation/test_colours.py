"""The scales of printed pictures grow darker without a break."""

import numpy as np
import pytest
from matplotlib.colors import Colormap, to_hex, to_rgb

from dragoman.visualisation.colours import LEAST, MOST, NEGATIVE, POSITIVE, ZERO
from dragoman.visualisation.picture_file import DIVERGING, SEQUENTIAL


@pytest.mark.parametrize(
    ("scale", "begin", "end", "first", "last"),
    [
        (SEQUENTIAL, 0.0, 1.0, LEAST, MOST),
        (DIVERGING, 0.5, 0.0, ZERO, NEGATIVE),
        (DIVERGING, 0.5, 1.0, ZERO, POSITIVE),
    ],
)
def test_a_scale_goes_from_end_to_end_and_never_back(
    scale: Colormap, begin: float, end: float, first: str, last: str
) -> None:
    colours = scale(np.linspace(begin, end, 64))[:, :3]

    assert to_hex(colours[-1]) == last
    assert colours[0] == pytest.approx(to_rgb(first), abs=0.01)
    luminance = colours**2.2 @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(luminance) < 0).all()
