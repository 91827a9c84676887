"""How sure a model is of each word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.tokenizers.tokenizer import Tokenizer


def confidence(log_probability: float, num_tokens: int) -> float:
    """Compute the geometric mean of the token probabilities: from 0 to 1, whatever the length."""
    return math.exp(log_probability / max(1, num_tokens))


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a translation, delimited by white space."""

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
    words = text.split()
    if not words:
        return []
    sums = [0.0] * len(words)
    shown, unseen = "", 0.0
    for place, log_probability in enumerate(log_probabilities[: len(ids)]):
        before, shown = shown, tokenizer.decode(ids[: place + 1])
        unseen += log_probability
        if shown != before or place == len(ids) - 1:  # else its word has not appeared yet
            sums[min(max(len(shown.split()), 1), len(words)) - 1] += unseen
            unseen = 0.0
    return [
        Word(text=word, confidence=math.exp(total)) for word, total in zip(words, sums, strict=True)
    ]
