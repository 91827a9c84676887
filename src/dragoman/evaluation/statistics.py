"""Sufficient statistics: what each sentence adds to a corpus score.

BLEU, chrF and TER are not means over sentences. They are functions of counts (matching n-grams,
lengths, edits) that are summed over the corpus, so a resampled test set costs one weighted sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman.errors import DragomanError
from dragoman.evaluation.config import EvaluationConfig, MetricName
from dragoman.tokenizers.normalisation import normalise


class EvaluationError(DragomanError):
    """Hypotheses and references cannot be compared."""


@dataclass(frozen=True)
class Statistics:
    """The counts of each sentence under one metric."""

    metric: Any
    """sacreBLEU's metric, which turns summed counts into a score."""

    counts: np.ndarray
    """float64 (sentences, counts of the metric)"""

    def score(self) -> float:
        """Score the whole test set."""
        return self._score(self.counts.sum(axis=0))

    def of_sentences(self) -> list[float]:
        """Score each sentence by itself."""
        return [self._score(counts) for counts in self.counts]

    def bootstrap(self, config: EvaluationConfig) -> np.ndarray:
        """Score test sets of the same size, drawn from this one with replacement (Koehn 2004).

        Equal seeds draw the same sentences, so that systems are compared on the same test sets.

        Returns:
            float64 (bootstrap_samples,)
        """
        size = len(self.counts)
        draw = np.random.default_rng(config.seed)
        times_drawn = (
            np.bincount(draw.integers(size, size=size), minlength=size)
            for _ in range(config.bootstrap_samples)
        )
        return np.array([self._score(times @ self.counts) for times in times_drawn])

    def signature(self, config: EvaluationConfig) -> str:
        """Name everything that the numbers depend on, as sacreBLEU writes it."""
        if config.bootstrap_samples:
            self.metric.n_bootstrap = config.bootstrap_samples
            self.metric.seed = config.seed
        return str(self.metric.get_signature().format())

    def _score(self, counts: np.ndarray) -> float:
        return float(self.metric._compute_score_from_stats(counts).score)


def collect(
    name: MetricName,
    hypotheses: Sequence[str],
    references: Sequence[str],
    config: EvaluationConfig,
) -> Statistics:
    """Count what each hypothesis has in common with its reference.

    Both are compared in the form that translations have: composed letters, single spaces.
    Otherwise, a reference that writes è as two code points would match no translation.

    Raises:
        EvaluationError: there is nothing to compare, the numbers of sentences differ, or a
            package that the metric needs is not installed.
    """
    if len(hypotheses) != len(references):
        raise EvaluationError(
            f"there are {len(hypotheses)} hypotheses but {len(references)} references; "
            "each hypothesis needs the reference that stands in the same place"
        )
    if not hypotheses:
        raise EvaluationError("there are no sentences to evaluate")
    metric = _metric(name, config)
    counts = metric._extract_corpus_statistics(
        [normalise(hypothesis) for hypothesis in hypotheses],
        [[normalise(reference) for reference in references]],
    )
    return Statistics(metric, np.array(counts, dtype=np.float64))


def require_packages(config: EvaluationConfig) -> None:
    """Set up all metrics, so that a missing package is noticed before the long work.

    Raises:
        EvaluationError: a package that a metric needs is not installed.
    """
    for name in config.metrics:
        _metric(name, config)


def _metric(name: MetricName, config: EvaluationConfig) -> Any:
    """Set up sacreBLEU's metric."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    try:
        if name == "BLEU":
            return BLEU(lowercase=config.lowercase, tokenize=config.tokenize)
    except (ImportError, RuntimeError) as error:  # MeCab's absence is a RuntimeError
        reason = " ".join(str(error).split())
        raise EvaluationError(f"a package for {name} is not installed: {reason}") from error
    if name == "TER":
        asian = not config.splits_at_spaces
        return TER(normalized=asian, asian_support=asian)
    return CHRF(lowercase=config.lowercase, word_order=2 if name == "chrF++" else 0)
