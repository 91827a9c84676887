"""What every import and export shows before it says that it worked."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dragoman.decoding.config import SearchConfig
from dragoman.tokenizers.tokenizer import Tokenizer

LENGTH_LIMIT = 40
GREEDY = SearchConfig(beam_size=1, max_length_ratio=0.0, max_length_extra=LENGTH_LIMIT)
NUM_SENTENCES = 20
MOST_PIECES = 12
TOLERANCE = 1e-3
"""On a logit or a log-probability: rounding is a hundred times smaller in single precision,
mistakes are larger."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What came out of a comparison."""

    num_sentences: int
    num_equal: int
    """Sentences whose greedy translation is the same, token by token."""

    largest_difference: float
    """Between two logits or log-probabilities."""

    @property
    def holds(self) -> bool:
        """Whether both sides compute the same."""
        return self.num_equal == self.num_sentences and self.largest_difference < TOLERANCE


def draw_sentences(tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Draw texts of random pieces, the same ones each time, and encode them."""
    random = np.random.default_rng(0)
    for _ in range(NUM_SENTENCES):
        pieces = random.integers(tokenizer.vocab_size, size=random.integers(1, MOST_PIECES + 1))
        if ids := tokenizer.encode(tokenizer.decode(pieces.tolist())):
            yield ids
