"""Settings of evaluation that make no sense are refused by name."""

from typing import Any

import pytest

from dragoman.evaluation.config import EvaluationConfig, usual_evaluation


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


@pytest.mark.parametrize(
    ("language", "tokenize", "has_ter"),
    [
        *(("zh_TW", "zh", True), ("yue", "zh", True)),
        *(("th_TH", "char", False), ("km", "char", False), ("lo", "char", False)),
        *(("my", "char", False), ("it_IT", "13a", True), ("ko", "13a", True)),
    ],
)
def test_what_suits_a_language_suits_its_regions(
    language: str, tokenize: str, has_ter: bool
) -> None:
    usual = EvaluationConfig(**usual_evaluation(language))

    assert (usual.tokenize, "TER" in usual.metrics) == (tokenize, has_ter)
