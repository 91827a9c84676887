"""The words of a text: what alignments count, what is judged, and what the page lets choose."""

import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from dragoman.languages.scripts import WITHOUT_SPACES
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import Tokenizer

_JOINED_TO_NEXT = "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4\u17d2\u1039"
"""Vowels of Thai and Lao that are written before their consonant, and what puts the next consonant
of Khmer and Burmese below the one before it."""


def cut_words(text: str, tokenizer: Tokenizer) -> list[str]:
    """Cut a text into words: at white space and, where a script has none, where tokens begin.

    So in Chinese, Japanese, Thai, Lao, Khmer and Burmese a word is what the model reads or writes
    at once. Of these scripts, words are in normal form.

    Args:
        text: In the language of the tokenizer.
        tokenizer: The one of the model.
    """
    return [part for word in text.split() for part in _cut_word(word, tokenizer)]


def _cut_word(word: str, tokenizer: Tokenizer) -> list[str]:
    """Cut what white space delimits; no token extends across that."""
    if not WITHOUT_SPACES.search(word):
        return [word]
    word = normalise(word)
    starts = [start for start, _ in tokenizer.offsets(word)]
    return [word[start:end] for start, end in word_spans(word, starts)]


def word_spans(text: str, starts: Iterable[int]) -> list[tuple[int, int]]:
    """Tell where the words of a text begin and end.

    Args:
        text: Some text.
        starts: Where tokens begin, at which words of scripts without spaces do, too.

    >>> word_spans("the cat", [0, 4, 5]), word_spans("猫は cat", [0, 1, 3, 5])
    ([(0, 3), (4, 7)], [(0, 1), (1, 2), (3, 6)])
    """
    cuts = {start for start in starts if may_begin_word(text, start)}
    spaces = {place for place, character in enumerate(text) if character.isspace()}
    edges = sorted({0, len(text)} | cuts | spaces | {place + 1 for place in spaces})
    return [(start, end) for start, end in pairwise(edges) if start not in spaces]


def may_begin_word(text: str, place: int) -> bool:
    """Tell whether a word can begin within a text without white space before it.

    >>> may_begin_word("猫は", 1), may_begin_word("cats", 3), may_begin_word("น้ำ", 1)
    (True, False, False)
    """
    if not 0 < place < len(text) or not WITHOUT_SPACES.search(text[place - 1 : place + 1]):
        return False
    is_mark = unicodedata.category(text[place]).startswith("M")
    return not (is_mark or text[place - 1] in _JOINED_TO_NEXT)
