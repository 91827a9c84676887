"""A stretch of a source that decides what must be in its translation."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dragoman.faults import Fault
from dragoman.languages.scripts import UNSPACED, UNSPACED_CHARACTER, is_mark

Kind = Literal["address", "placeholder", "picture", "code", "number", "sign", "foreign", "glossary"]

EXACT: frozenset[Kind] = frozenset({"address", "placeholder", "picture"})
"""Of these a translation has just those of its source."""

PRESCRIBABLE: frozenset[Kind] = frozenset({"code", "number", "sign", "foreign"})
"""What stays as it is, unless it is part of a glossary term that says how it is written; a
translation may have more of it."""

FAULT_OF_PROTECTED: Fault = "changes what must stay as it is"
FAULT_OF_GLOSSARY: Fault = "lacks a term of the glossary"

WORD_CHARACTER = rf"[^\W{UNSPACED}]"
"""A pattern for a letter, digit or underscore beside which a word may continue. Beside those of
scripts without spaces, any word may end."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """What a translation must have because of what is in the source."""

    kind: Kind
    start: int
    """Where it begins in the source..."""

    end: int
    """...and where it ends."""

    writings: tuple[str, ...]
    """The ways to write it in the translation, the preferred one first."""

    continues_word: bool = False
    """Whether a word continues right before it."""

    is_continued: bool = False
    """Whether a word continues right after it."""

    @property
    def key(self) -> frozenset[str]:
        """What it has in common with the same term in a translation, however that is written."""
        return frozenset(map(in_ascii, self.writings))


def is_of_word(character: str) -> bool:
    """Tell whether a word continues at a character: a letter, a digit, or a mark such as an accent.

    >>> is_of_word("a"), is_of_word("\u732b"), is_of_word("\u0301")
    (True, False, True)
    """
    if not (character.isalnum() or is_mark(character)):
        return False
    return UNSPACED_CHARACTER.match(character) is None


def cut_at_terms(text: str, terms: Sequence[Term]) -> list[str]:
    """Split a text at terms, given in order: even indices are the rest, odd ones the terms."""
    places = [0, *(place for term in terms for place in (term.start, term.end)), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def find_term_faults(
    required: Sequence[Term], kept: Sequence[Term], translation: str
) -> tuple[Fault, ...]:
    """Compare what a translation must have with what it has.

    Placeholders, addresses and pictures must be the same, and equally many. Numbers, in digits of
    any script, codes, signs and words of other scripts must all be there; a translation may have
    others, too, as it may write words as digits, but no code twice that the source has once. A
    number may have an ending, as in *20th*, and 1 200 and 8–10, which are two numbers here, may be
    1,200 and 8-10, and the other way round. A glossary term must be there in one of its writings,
    however often the source has it.

    Args:
        required: The terms of the source.
        kept: The protected terms of the translation.
        translation: The translation itself.
    """
    if not required and not kept:  # as in most sentences, and counting takes time
        return ()
    found: list[Fault] = []
    kept = [*kept, *_with_endings(required, translation), *_regrouped(required, kept)]
    if not all(_keeps_all(kind, required, kept) for kind in EXACT | PRESCRIBABLE):
        found.append(FAULT_OF_PROTECTED)
    folded = _fold(translation)
    if not all(
        any(
            _stands_in(writing, translation)
            if is_acronym(writing)
            else _stands_in(_fold(writing), folded)
            for writing in term.writings
        )
        for term in required
        if term.kind == "glossary"
    ):
        found.append(FAULT_OF_GLOSSARY)
    return tuple(found)


_BEFORE_ENDING = re.compile(r"(?<![\w.,:/-])\d+(?=[^\W\d_])")


def _with_endings(required: Sequence[Term], translation: str) -> Iterator[Term]:
    """Find the numbers of the source that begin a word of the translation.

    What is a word beside the number in one language is its ending in another: 20世紀 is *20th
    century*, and 1980年代 *the 1980s*.
    """
    wanted = {term.key: term for term in required if term.kind == "number"}
    for found in _BEFORE_ENDING.finditer(translation) if wanted else ():
        if (term := wanted.get(frozenset([in_ascii(found.group())]))) is not None:
            yield term


def _count(terms: Sequence[Term], kind: Kind) -> Counter[frozenset[str]]:
    """Count the terms of a kind, in whichever writing."""
    return Counter(term.key for term in terms if term.kind == kind)


def _regrouped(required: Sequence[Term], kept: Sequence[Term]) -> Iterator[Term]:
    """Find the numbers of the source that the translation has with other signs between their parts.

    What is one number in one of them is several in the other: 1,200 and 1 200, 8-10 and 8–10.
    """
    wanted, written = (
        [term for term in terms if term.kind == "number"] for terms in (required, kept)
    )
    in_one_piece = {key for term in written for key in (_digits(term), _plain(term))}
    for key, parts in _in_parts(wanted):
        if key in in_one_piece:
            yield from parts
    wanted_in_one_piece = {key: term for term in wanted for key in (_digits(term), _plain(term))}
    for key, _ in _in_parts(written):
        if term := wanted_in_one_piece.get(key):
            yield term


def _in_parts(numbers: Sequence[Term]) -> Iterator[tuple[str, Sequence[Term]]]:
    """Yield what could be one number elsewhere, without signs or as a range, and its parts."""
    for group in _groups(numbers):
        if len(group) > 1:
            yield "".join(map(_digits, group)), group
    for start, end in pairwise(numbers):
        if end.start == start.end + 1:
            yield f"{_plain(start)}-{_plain(end)}", (start, end)


def _groups(numbers: Sequence[Term]) -> list[list[Term]]:
    """Put numbers together that go on with three digits after a single sign, as in 1 200."""
    groups: list[list[Term]] = []
    for number in numbers:
        if groups and number.start == groups[-1][-1].end + 1 and _THOUSANDS.match(_plain(number)):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


_THOUSANDS = re.compile(r"[0-9]{3}(?![0-9])")


def _plain(number: Term) -> str:
    return in_ascii(number.writings[0])


def _digits(number: Term) -> str:
    return "".join(filter(str.isdecimal, _plain(number)))


def _keeps_all(kind: Kind, required: Sequence[Term], kept: Sequence[Term]) -> bool:
    """Tell whether a translation keeps the terms of a kind."""
    wanted, found = _count(required, kind), _count(kept, kind)
    if kind in EXACT:
        return wanted == found
    is_doubled = kind == "code" and any(
        found[code] > count + sum(_writes(term, code) for term in required)
        for code, count in wanted.items()
    )
    return wanted <= found and not is_doubled


def _writes(term: Term, code: frozenset[str]) -> bool:
    """Tell whether a term of the glossary may bring a code with it."""
    return term.kind == "glossary" and any(c in writing for c in code for writing in term.writings)


_SEPARATORS = str.maketrans("\u066b\u066c\uff0e\uff0c\uff1a", ".,.,:")
"""The separators of Arabic and of full-width numbers."""


def in_ascii(number: str) -> str:
    """Replace digits of other scripts, such as Arabic and Devanagari, and their separators."""
    if number.isascii():
        return number
    text = number.translate(_SEPARATORS)
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def is_acronym(term: str) -> bool:
    """Tell whether a term is a single word in capitals, and perhaps another one in small letters.

    >>> is_acronym("IT"), is_acronym("it"), is_acronym("C")
    (True, False, False)
    """
    return term.isalpha() and term.isupper() and len(term) > 1


def straight(text: str) -> str:
    """Write apostrophes as they are typed."""
    return text.replace("\u2019", "'")


def _fold(text: str) -> str:
    """Fold apostrophes and the case of letters, including the Turkish capital i with a dot."""
    return straight(text.casefold().replace("i\u0307", "i"))


def _stands_in(writing: str, text: str) -> bool:
    """Tell whether a text contains a term, and not only as part of a longer word."""
    start = text.find(writing)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(writing) :][:1]
        if not (is_of_word(before) and is_of_word(writing[0])) and not (
            is_of_word(after) and is_of_word(writing[-1])
        ):
            return True
        start = text.find(writing, start + 1)
    return False
