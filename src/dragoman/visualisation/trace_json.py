"""A trace for programs."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from dragoman.visualisation.trace import Trace

DECIMALS = 6
"""About the precision of a single-precision number around one."""


def trace_json(trace: Trace) -> str:
    """Write everything that was recorded as one JSON object.

    Its keys are the fields of `Trace`, with arrays as nested lists. `log_probabilities` is left
    out, as it follows from the logits.
    """
    return json.dumps(asdict(trace), ensure_ascii=False, default=_plain)


def _plain(array: Any) -> Any:
    """Write an array with no more digits than are significant."""
    return np.round(np.asarray(array, np.float64), DECIMALS).tolist()
