"""How sure a model is of each word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.tokenizers.tokenizer import Tokenizer


def confidence(log_probability: float, num_tokens: int) -> float:
    """Give the geometric mean of the tokens' probabilities: from 0 to 1, whatever the length."""
    return math.exp(log_probability / max(1, num_tokens))


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a translation, as white space sets it apart."""

    text: str
    confidence: float
    """The probability that the model gives it after the words before it: the product of those of
    its tokens."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How sure a model is of a translation, whoever has made it."""

    words: tuple[Word, ...]

    log_probability: float
    """Natural logarithm of its probability under the model, that of its end included."""

    num_tokens: int
    """The tokens that it is the probability of, the end included; 0 if the model is not asked."""

    @property
    def confidence(self) -> float:
        """How sure the model is, from 0 to 1."""
        return confidence(self.log_probability, self.num_tokens)


def judge_words(
    ids: Sequence[int], log_probabilities: Sequence[float], tokenizer: Tokenizer
) -> list[Word]:
    """Put the words of a translation together with the probabilities of their tokens.

    Args:
        ids: The tokens of the translation.
        log_probabilities: One for each token; what follows, that of the end, is left out.
        tokenizer: That of the target.
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
        if shown != before or place == len(ids) - 1:  # else the word that it begins is to come
            sums[min(max(len(shown.split()), 1), len(words)) - 1] += unseen
            unseen = 0.0
    return [
        Word(text=word, confidence=math.exp(total)) for word, total in zip(words, sums, strict=True)
    ]
