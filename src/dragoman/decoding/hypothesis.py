"""What a search returns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.decoding.config import SearchConfig


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A possible translation, as token ids."""

    ids: tuple[int, ...]
    """The tokens, without the beginning and the end of the sentence."""

    score: float
    """What ranks it: the log-probability divided by the length penalty."""

    log_probability: float
    """Natural logarithm of its probability under the model, its end included."""

    token_log_probabilities: tuple[float, ...]
    """The terms of `log_probability`: one for each token, and one for the end if it is finished.
    Empty if the engine does not provide them."""

    finished: bool
    """Whether it ended by itself; otherwise it was stopped at the length limit."""


def build_hypothesis(
    tokens: Sequence[int],
    token_log_probabilities: Sequence[float],
    *,
    eos: int,
    config: SearchConfig,
) -> Hypothesis:
    """Score a sequence of tokens, which ends with EOS if it is finished."""
    finished = tokens[-1] == eos
    log_probability = math.fsum(token_log_probabilities)
    return Hypothesis(
        ids=tuple(tokens[:-1] if finished else tokens),
        score=log_probability / config.penalty(len(tokens)),
        log_probability=log_probability,
        token_log_probabilities=tuple(token_log_probabilities),
        finished=finished,
    )


EMPTY = Hypothesis(
    ids=(), score=0.0, log_probability=0.0, token_log_probabilities=(), finished=True
)
"""The translation of nothing, which no model is asked for."""
