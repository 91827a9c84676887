"""Sentences in capitals, which a model of subwords cannot read, as it has hardly seen any."""

import re
from collections.abc import Sequence
from itertools import pairwise

from dragoman.terms.term import Term

_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_FEWEST_WORDS = 2  # one alone may be an acronym, which is written so in any sentence

WITH_ANOTHER_I = frozenset({"tr", "az"})
"""Languages in which the small letter of I is not i."""


def is_in_capitals(text: str, kept: Sequence[Term]) -> bool:
    """Tell whether all letters of a sentence are capitals, but for what is kept as it is."""
    words = " ".join(_cut(text, kept)[::2])
    return words.isupper() and len(_WORD.findall(words)) >= _FEWEST_WORDS


def with_small_letters(text: str, kept: Sequence[Term]) -> str:
    """Write a sentence that is in capitals as others are written, with a capital at its beginning.

    >>> with_small_letters("(CLICK HERE)", [])
    '(Click here)'
    """
    pieces = _cut(text, kept)
    pieces[::2] = map(str.lower, pieces[::2])
    if not re.search(r"\w", pieces[0]):  # a term is the first word
        return "".join(pieces)
    return _LETTER.sub(lambda first: first.group().upper(), "".join(pieces), count=1)


def with_capitals(text: str, kept: Sequence[Term]) -> str:
    """Write all letters of a sentence as capitals, but for what is kept as it is."""
    pieces = _cut(text, kept)
    pieces[::2] = map(str.upper, pieces[::2])
    return "".join(pieces)


def _cut(text: str, kept: Sequence[Term]) -> list[str]:
    """Give what stands beside the terms at even places, and the terms at odd ones."""
    places = [0, *(place for term in kept for place in (term.start, term.end)), len(text)]
    return [text[start:end] for start, end in pairwise(places)]
