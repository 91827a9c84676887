"""From the attention between tokens to links between words."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.alignment.links import Links
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.words import cut_words, may_begin_word

Weights = NDArray[np.float32]


def words_of_tokens(text: str, tokenizer: Tokenizer) -> list[int]:
    """Tell for each token of a text which of its words it belongs to.

    A space belongs to the word behind it, and so does what a tokenizer reads as a space, such as a
    mark of direction that stands alone. A token in front that names the target language belongs to
    none, -1.
    """
    normal = normalise(text)
    ends, read = [], 0
    for word in cut_words(normal, tokenizer):
        read = normal.index(word, read) + len(word)
        ends.append(read)
    words = [
        min(bisect_right(ends, max(start, end - 1)), len(ends) - 1)
        for start, end in tokenizer.offsets(normal)
    ]
    if words and isinstance(tokenizer, MarianTokenizer) and tokenizer.prefix is not None:
        words[0] = -1
    return words


def word_weights(
    weights: Weights, words_of_source: Sequence[int], words_of_target: Sequence[int]
) -> Weights:
    """Sum the weights over the tokens of a source word, and average over those of a target word.

    So a row says how the attention of a target word is distributed over the source words; what went
    to the end of the sentence is missing.

    Args:
        weights: Of shape (…, target tokens, source tokens), without BOS and EOS.
        words_of_source: The word of each source token, or -1.
        words_of_target: The word of each target token, or -1.

    Returns:
        Of shape (…, target words, source words).
    """
    to_source = _membership(words_of_source)
    to_target = _membership(words_of_target)
    pieces = np.maximum(to_target.sum(axis=0), 1)
    summed: Weights = to_target.T @ weights @ to_source / pieces[:, None]
    return summed


def _membership(words: Sequence[int]) -> Weights:
    """Write a one where a token (row) belongs to a word (column)."""
    return np.equal.outer(words, np.arange(max(words, default=-1) + 1)).astype(np.float32)


def of_head(weights: Weights, layer: int, head: int | None) -> Weights:
    """Take the weights of a head, or the mean of all of its layer; both are counted from 1."""
    return weights[layer - 1].mean(axis=0) if head is None else weights[layer - 1, head - 1]


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


def join_words(
    text: str, parts: Sequence[str], words_of_parts: Sequence[Sequence[str]]
) -> tuple[list[str], list[int]]:
    """Join the words of the parts of a text.

    Where a part begins within a word, as after a full stop without a space, its first word
    continues the last one before it.

    Args:
        text: Some text.
        parts: All of it except white space, in order; none begins with white space.
        words_of_parts: The words of each part.

    Returns:
        The words of the text, and which of them each part begins with, or within.
    """
    words: list[str] = []
    found, end = [], 0
    for part, of_part in zip(parts, words_of_parts, strict=True):
        start = end
        while start < len(text) and text[start].isspace():
            start += 1
        is_glued = start > 0 and not text[start - 1].isspace()
        if words and of_part and is_glued and not may_begin_word(text, start):
            first, *others = of_part
            words[-1] += first
            found.append(len(words) - 1)
            words += others
        else:
            found.append(len(words))
            words += of_part
        end = start + len(part)
    return words, found
