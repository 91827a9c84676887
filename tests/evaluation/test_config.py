"""Settings of evaluation that make no sense are refused by name."""

from typing import Any

import pytest

from dragoman.evaluation.config import EvaluationConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": ()}, "metrics is empty"),
        ({"metrics": ("chrF", "BLEU", "chrF")}, "metrics=chrF, BLEU, chrF names one twice"),
        ({"bootstrap_samples": -1}, "bootstrap_samples=-1 is negative"),
        ({"seed": -2}, "seed=-2 is negative"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EvaluationConfig(**settings)
