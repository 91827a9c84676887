"""The words of a text: what alignments count, what is judged, and what the page lets choose."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import accumulate, pairwise

from dragoman.languages.scripts import RANGES, STACKERS, VOWELS_BEFORE, WITHOUT_SPACES, is_combining
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import Tokenizer

_JOINED_TO_NEXT = (*VOWELS_BEFORE, *STACKERS)

_JOINED_TO_LAST = (
    "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\u0ebd"  # of Thai and Lao
    "\uff9e\uff9f"  # of half-width kana
)
"""Vowels that are written after their consonant, and marks, though Unicode has them as letters."""

_HANGUL = re.compile(f"[{RANGES['Hangul']}]")  # syllables may be composed of several


def cut_words(text: str, tokenizer: Tokenizer) -> list[str]:
    """Cut a text into words: at white space and, where a script has none, where tokens begin.

    So in Chinese, Japanese, Thai, Lao, Khmer and Burmese a word is what the model reads or writes
    at once, and their wide signs are no part of other words: `Java。` is two.

    Args:
        text: In the language of the tokenizer.
        tokenizer: The one of the model.
    """
    return [part for word in text.split() for part in _cut_word(word, tokenizer)]


def _cut_word(word: str, tokenizer: Tokenizer) -> list[str]:
    """Cut what white space delimits; no token extends across that."""
    if word.isascii() or not any(map(_has_no_space, word)):
        return [word]
    normal = normalise(word)
    letters = word if normal == word else _letters(word)
    starts = accumulate((len(normalise(letter)) for letter in letters), initial=0)
    places = dict(zip(starts, accumulate(map(len, letters), initial=0), strict=True))
    spans = word_spans(normal, (start for start, _ in tokenizer.offsets(normal)))
    return [word[places[start] : places[end]] for start, end in spans]


def _letters(word: str) -> list[str]:
    """Cut a word between characters that no normal form changes together."""
    letters: list[str] = []
    for character in word:
        are_hangul = letters and all(map(_HANGUL.match, (letters[-1][-1], character)))
        if are_hangul or (letters and is_combining(character)):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


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
    if not (0 < place < len(text) and any(map(_has_no_space, text[place - 1 : place + 1]))):
        return False
    is_joined = is_combining(text[place]) or text[place] in _JOINED_TO_LAST
    return not (is_joined or text[place - 1] in _JOINED_TO_NEXT)


def _has_no_space(character: str) -> bool:
    """Tell whether a character is of a script without spaces, or one of its wide signs."""
    if WITHOUT_SPACES.match(character):
        return True
    is_sign = unicodedata.category(character).startswith("P")
    return is_sign and unicodedata.east_asian_width(character) in ("W", "F")


def shorten(text: str, longest: int) -> str:
    """Cut a text that is longer, behind a word if one ends in its second half.

    >>> shorten("the cat sat", 9), shorten("猫" * 9, 5)
    ('the cat…', '猫猫猫猫…')
    """
    if len(text) <= longest:
        return text
    end = text.rfind(" ", longest // 2, longest)
    return text[: end if end > 0 else longest - 1].rstrip() + "…"
