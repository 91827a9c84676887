"""From the attention between tokens to links between words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.alignment.links import Links
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.tokenizers.tokenizer import Tokenizer

Weights = NDArray[np.float32]


def words_of_tokens(text: str, tokenizer: Tokenizer) -> list[int]:
    """Tell for each token of a text which of its words it belongs to.

    No tokenizer lets a token extend across white space, so the first k words have as many tokens
    as their text alone. A token in front that names the target language belongs to none, -1.
    """
    words = text.split()
    starts = [" ".join(words[:count]) for count in range(1, len(words) + 1)]
    has_prefix = isinstance(tokenizer, MarianTokenizer) and tokenizer.prefix is not None
    before = [-1] if words and has_prefix else []
    ends = [max(len(before), len(ids)) for ids in tokenizer.encode_batch(starts)]
    return before + [
        word
        for word, (start, end) in enumerate(zip([len(before), *ends], ends, strict=False))
        for _ in range(start, end)
    ]


def word_weights(
    weights: Weights, words_of_source: Sequence[int], words_of_target: Sequence[int]
) -> Weights:
    """Sum the weights over the tokens of a source word, and average over those of a target word.

    So a row says how the attention of a target word is distributed over the source words; what went
    to the end of the sentence is missing.

    Args:
        weights: Of shape (target tokens, source tokens), without BOS and EOS.
        words_of_source: The word of each source token, or -1.
        words_of_target: The word of each target token, or -1.

    Returns:
        Of shape (target words, source words).
    """
    to_source = _membership(words_of_source)
    to_target = _membership(words_of_target)
    pieces = np.maximum(to_target.sum(axis=0), 1)
    summed: Weights = to_target.T @ weights @ to_source / pieces[:, None]
    return summed


def _membership(words: Sequence[int]) -> Weights:
    """Write a one where a token (row) belongs to a word (column)."""
    return np.equal.outer(words, np.arange(max(words, default=-1) + 1)).astype(np.float32)


def both_directions(weights: Weights) -> tuple[Links, Links]:
    """Link each target word to the source word that it looks at most, and the other way round.

    Args:
        weights: Of shape (target words, source words).

    Returns:
        The links of the target words, then those of the source words.
    """
    if not weights.size:
        return frozenset(), frozenset()
    of_target = frozenset((int(i), j) for j, i in enumerate(weights.argmax(axis=1)))
    of_source = frozenset((i, int(j)) for i, j in enumerate(weights.argmax(axis=0)))
    return of_target, of_source


def link_words(weights: Weights) -> Links:
    """Link what either direction links, so that no word is left alone."""
    of_target, of_source = both_directions(weights)
    return of_target | of_source


def first_words(text: str, parts: Sequence[str]) -> list[int]:
    """Tell which word of a text each part of it begins with, or within.

    Args:
        text: Some text.
        parts: All of it except white space, in order; none begins with white space.
    """
    found, end = [], 0
    for part in parts:
        start = end
        while start < len(text) and text[start].isspace():
            start += 1
        found.append(len((text[:start] + "x").split()) - 1)
        end = start + len(part)
    return found
