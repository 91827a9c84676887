"""How sure a model is of each word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.words import word_spans


def confidence(log_probability: float, num_tokens: int) -> float:
    """Compute the geometric mean of the token probabilities: from 0 to 1, whatever the length."""
    return math.exp(log_probability / max(1, num_tokens))


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a translation, as `dragoman.words` cuts them."""

    text: str
    confidence: float
    """The probability that the model gives it after the words before it: the product of its tokens'
    probabilities."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How sure a model is of a translation, whoever made it."""

    words: tuple[Word, ...]

    log_probability: float
    """Natural logarithm of its probability under the model, its end included."""

    num_tokens: int
    """How many tokens the probability covers, the end included; 0 if the model was not asked."""

    @property
    def confidence(self) -> float:
        """How sure the model is, from 0 to 1."""
        return confidence(self.log_probability, self.num_tokens)


def judge_words(
    ids: Sequence[int], log_probabilities: Sequence[float], tokenizer: Tokenizer
) -> list[Word]:
    """Combine the tokens of a translation and their log-probabilities into words.

    Args:
        ids: The tokens of the translation.
        log_probabilities: One for each token; what follows, that of the end, is ignored.
        tokenizer: The one of the target language.
    """
    text = tokenizer.decode(ids)
    ends, sums, unseen = [0], [], 0.0
    for num_tokens, log_probability in enumerate(log_probabilities[: len(ids)], start=1):
        shown = tokenizer.decode(ids[:num_tokens])
        unseen += log_probability
        # A space, or a byte of a letter, belongs to what can be read only with the tokens after it.
        can_be_read = len(shown) > ends[-1] and text.startswith(shown)
        if can_be_read or num_tokens == len(ids):
            ends.append(len(shown))
            sums.append(unseen)
            unseen = 0.0
    words = word_spans(text, ends)
    return [
        Word(text=text[start:end], confidence=math.exp(_sum_within(start, end, ends, sums)))
        for start, end in words
    ]


def _sum_within(start: int, end: int, ends: Sequence[int], sums: Sequence[float]) -> float:
    """Add up the log-probabilities of what ends within a word."""
    return math.fsum(
        value for place, value in zip(ends[1:], sums, strict=True) if start < place <= end
    )
