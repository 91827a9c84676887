"""Sentences in capitals, which a subword model cannot read, as it has hardly seen any."""

import re
from collections.abc import Sequence

from dragoman.languages.casing import in_capitals
from dragoman.terms.term import Term, cut_at_terms

_BEGINNING = re.compile(r"[\W_]*[^\W\d_]?")
_FEWEST_WORDS = 3
_FEWEST_LETTERS = 5
"""Two words that are both shorter may be acronyms, which are in capitals in any sentence."""


def is_in_capitals(text: str, kept: Sequence[Term]) -> bool:
    """Tell whether all letters of a sentence are capitals, except in what is kept as it is.

    A sentence with letters of a script that has no capitals is not in capitals.
    """
    words = " ".join(cut_at_terms(text, kept)[::2]).split()
    lengths = [sum(map(str.isalpha, word)) for word in words]
    num_words = sum(length > 1 for length in lengths)
    is_sentence = num_words >= _FEWEST_WORDS or (num_words > 1 and max(lengths) >= _FEWEST_LETTERS)
    return is_sentence and has_capitals_alone(text, kept)


def has_capitals_alone(text: str, kept: Sequence[Term]) -> bool:
    """Tell whether all letters are capitals, except in what is kept as it is."""
    return all(map(str.isupper, filter(str.isalpha, "".join(cut_at_terms(text, kept)[::2]))))


def with_small_letters(text: str, kept: Sequence[Term]) -> str:
    """Write a sentence that is in capitals in small letters, with a capital at its beginning.

    >>> with_small_letters("(CLICK HERE)", [])
    '(Click here)'
    """
    first, *others = cut_at_terms(text, kept)
    others[1::2] = map(str.lower, others[1::2])
    beginning = _BEGINNING.match(first)
    kept_capital = first[: beginning.end() if beginning else 0]
    rest = first.lower()[len(kept_capital.lower()) :]  # what is before it decides about a last Σ
    return kept_capital + rest + "".join(others)


def with_capitals(text: str, kept: Sequence[Term], language: str) -> str:
    """Write all letters of a sentence as capitals, except in what is kept as it is."""
    pieces = cut_at_terms(text, kept)
    pieces[::2] = [in_capitals(piece, language) for piece in pieces[::2]]
    return "".join(pieces)
