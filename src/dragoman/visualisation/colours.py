"""The colours of pictures."""

LEAST, MOST = "#eff3f7", "#08306b"
"""The ends of a scale from nothing to all, as on pages with a light background."""

NEGATIVE, ZERO, POSITIVE = "#9a3d00", "#f7f7f7", "#08306b"
"""A scale around zero: orange and blue, which colour-blind people can tell apart."""

SERIES = ("#0072b2", "#d55e00", "#00805c", "#b3528a", "#9a6b00", "#4b5563")
"""Colours of lines, as on pages with a light background."""
