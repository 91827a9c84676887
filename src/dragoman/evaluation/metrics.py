"""Scores of translations, each with its signature and its confidence interval."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dragoman.evaluation.config import EvaluationConfig, MetricName
from dragoman.evaluation.statistics import collect
from dragoman.tokenizers.normalisation import normalise

_TAIL = 40  # one resampled test set in 40 lies below the 95 % interval, and one above


@dataclass(frozen=True)
class Score:
    """One number about a translated test set, and what it depends on."""

    name: MetricName
    value: float
    """Between 0 and 100, and better if higher; TER is better if lower, and can exceed 100."""

    signature: str
    """sacreBLEU's: scores are comparable only if their signatures are equal."""

    low: float | None
    high: float | None
    """The 95 % bootstrap interval, if enough test sets of more than one sentence were resampled."""

    resampled: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    """The scores of the resampled test sets."""


def score(
    hypotheses: Sequence[str], references: Sequence[str], config: EvaluationConfig
) -> list[Score]:
    """Score translations against one reference each, with every metric of the configuration.

    Raises:
        EvaluationError: there is nothing to compare, or the numbers of sentences differ.
    """
    scores = []
    for name in config.metrics:
        statistics = collect(name, hypotheses, references, config)
        resampled = statistics.bootstrap(config)
        low = high = None
        if len(resampled) >= _TAIL and len(references) > 1:  # else nothing lies beyond it
            ordered = np.sort(resampled)
            tail = len(ordered) // _TAIL
            low, high = float(ordered[tail]), float(ordered[-tail - 1])
        value, signature = statistics.score(), statistics.signature(config)
        scores.append(Score(name, value, signature, low, high, resampled))
    return scores


def exact_match(
    hypotheses: Sequence[str], references: Sequence[str], config: EvaluationConfig
) -> float:
    """Compute the percentage of hypotheses that equal their reference.

    Runs of white space and the way accents are encoded do not matter, nor does case if the
    configuration says so. There are as many references as hypotheses, as `score` makes sure.
    """

    def comparable(text: str) -> str:
        return normalise(text).lower() if config.lowercase else normalise(text)

    pairs = zip(hypotheses, references, strict=True)
    matches = sum(
        comparable(hypothesis) == comparable(reference) for hypothesis, reference in pairs
    )
    return 100.0 * matches / len(references)
