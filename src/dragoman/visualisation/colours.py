"""Scales of colours in which equal steps look equal."""

import numpy as np

LEAST, MOST = "#eff3f7", "#08306b"
"""The ends of a scale from nothing to all, as on pages with a light background."""

NEGATIVE, ZERO, POSITIVE = "#9a3d00", "#f7f7f7", "#08306b"
"""A scale around zero: orange and blue, which colour-blind people can tell apart."""

SERIES = ("#0072b2", "#d55e00", "#00805c", "#b3528a", "#9a6b00", "#4b5563")
"""Colours of lines, as on pages with a light background."""

_LMS_OF_RGB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB_OF_LMS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def ramp(first: str, last: str, steps: int) -> np.ndarray:
    """Go from one colour to another in equal steps in Oklab (Ottosson 2020).

    Args:
        first: As `#rrggbb`.
        last: As `#rrggbb`.
        steps: Number of colours, both ends included.

    Returns:
        Of shape (steps, 3): red, green and blue from 0 to 1.
    """
    begin, end = _oklab(first), _oklab(last)
    share = np.linspace(0.0, 1.0, steps)[:, np.newaxis]
    cone_roots = (begin + share * (end - begin)) @ np.linalg.inv(_LAB_OF_LMS).T
    linear = np.clip(cone_roots**3 @ np.linalg.inv(_LMS_OF_RGB).T, 0.0, 1.0)
    small = linear <= 0.0031308  # noqa: PLR2004
    return np.where(small, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _oklab(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004
    return np.cbrt(linear @ _LMS_OF_RGB.T) @ _LAB_OF_LMS.T
