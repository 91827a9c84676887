"""Obvious faults of a translation."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Literal

from dragoman.languages.codes import base_language
from dragoman.languages.detection import LISTED_LANGUAGES, Detector
from dragoman.languages.scripts import (
    CLOSING,
    RANGES,
    SENTENCE_ENDS,
    UNSPACED_CHARACTER,
    are_varieties,
    scripts_of,
)

Fault = Literal[
    "repeats itself",
    "copies the source",
    "is far too long",
    "is far too short",
    "is empty",
    "has a broken character",
    "changes what must stay as it is",
    "lacks a term of the glossary",
]

LONGEST_UNIT = 20  # tokens
FEWEST_REPETITIONS = 4
SHORTEST_LOOP = 6  # tokens, all repetitions together

FEWEST_WORDS = 6
MOST_COPIED = 0.9
FEWEST_WORDS_ALONE = 3

FEWEST_FOREIGN = 6
"""This many letters that the target language does not have are no mark or sign."""

LEAST_COPIED = 0.5
FEWEST_PLAIN = 4
"""Fewer plain words than this may be in both a source and its translation by chance."""

LEAST_TOKENS = 10
MOST_TOKENS_FOR_EACH = 3.0

FEWEST_WORDS_ENDED = 4
MOST_BROKEN_OFF = 0.5
"""Most words, for each one of its source, of a translation that breaks off."""

_BROKEN = "\ufffd"
"""Stands for bytes that are no character, where a model spells one in bytes and gets it wrong or is
stopped on the way."""

_ENDED = re.compile(rf"[{SENTENCE_ENDS}][{re.escape(CLOSING)}]*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_STANDING_ALONE = re.compile(r"(?<!\S)[^\W\d_]{2,}(?=[.,;:!?\u2026]?(?!\S))")
_SIGN_OF_ADDRESS = re.compile(r"://|@|www\.")
_ADDRESS = re.compile(rf"(?<!\S)\S*(?:{_SIGN_OF_ADDRESS.pattern})\S*")


def find_faults(
    source: str,
    translation: str,
    *,
    source_ids: Sequence[int],
    translation_ids: Sequence[int],
    languages: tuple[str, str] | None = None,
) -> tuple[Fault, ...]:
    """List the obvious faults of a translation.

    A model that was trained too little, or on different text, repeats itself, copies what it does
    not know, or stops right away. What the source does too is not a fault, and between two kinds of
    one language, such as pt_PT and pt_BR, much stays as it is. Loops and lengths are counted in
    tokens, of which there are mostly about as many in both languages, whatever these are.

    Args:
        source: The source text.
        translation: The translated text.
        source_ids: The tokens of the source.
        translation_ids: The tokens of the translation.
        languages: The codes of both languages. Without them, only whole copies are found.
    """
    if source_ids and not translation.strip():
        return ("is empty",)
    found: list[Fault] = []
    loop = longest_loop(translation_ids)
    if loop and loop > 2 * longest_loop(source_ids):
        found.append("repeats itself")
    may_stay = languages is not None and are_varieties(*languages)
    if not may_stay and (
        _copies_words(source, translation, languages)
        or _copies_script(source, translation, languages)
    ):
        found.append("copies the source")
    shorter, longer = sorted((len(source_ids), len(translation_ids)))
    if longer >= LEAST_TOKENS and longer > MOST_TOKENS_FOR_EACH * (shorter + 1):
        is_too_long = len(translation_ids) > len(source_ids)
        found.append("is far too long" if is_too_long else "is far too short")
    elif _breaks_off(source, translation):
        found.append("is far too short")
    if _BROKEN in translation and _BROKEN not in source:
        found.append("has a broken character")
    return tuple(found)


def longest_loop(ids: Sequence[int]) -> int:
    """Count the tokens of the longest stretch that repeats a sequence without a break.

    >>> longest_loop([5, 1, 2, 1, 2, 1, 2, 1, 2, 1]), longest_loop([1, 1, 1, 2, 1, 2])
    (9, 0)
    """
    if len(set(ids)) > len(ids) - (FEWEST_REPETITIONS - 1):  # most have few tokens twice
        return 0
    if max(Counter(ids).values()) < FEWEST_REPETITIONS:
        return 0
    longest = 0
    for period in range(1, min(LONGEST_UNIT, len(ids) // FEWEST_REPETITIONS) + 1):
        repeated = 0
        for token, later in zip(ids, ids[period:], strict=False):
            repeated = repeated + 1 if token == later else 0
            covered = repeated + period
            if covered >= max(FEWEST_REPETITIONS * period, SHORTEST_LOOP):
                longest = max(longest, covered)
    return longest


def _breaks_off(source: str, translation: str) -> bool:
    """Tell whether a translation stops in the middle of a sentence.

    The source ends with a full stop or the like, the translation with a letter, and it has at most
    half as many words. Scripts without spaces have no words to count.
    """
    source, translation = source.rstrip(), translation.rstrip()
    if not translation[-1:].isalpha() or not _ENDED.search(source):
        return False
    of_source, words = len(source.split()), len(translation.split())
    return (
        of_source >= FEWEST_WORDS_ENDED
        and words <= MOST_BROKEN_OFF * of_source
        and not UNSPACED_CHARACTER.search(translation)
    )


def _copies_words(source: str, translation: str, languages: tuple[str, str] | None) -> bool:
    """Tell whether at least half of the words of a translation are in the source, and too many."""
    words, of_source = _words(translation), _words(source)
    copied = (Counter(words) & Counter(of_source)).total()
    if copied < LEAST_COPIED * len(words):
        return False
    if words == of_source and _is_short_copy(translation, len(words)):
        return True
    if len(words) >= FEWEST_WORDS and copied > MOST_COPIED * len(words):
        return True
    return _stays_in_language(source, translation, languages)


def _is_short_copy(translation: str, num_words: int) -> bool:
    """Tell whether a translation with the words of its source, in the same order, is a copy.

    A few of them must stand alone, unlike those of code and paths. Names and titles are not
    translated, so a short copy counts only if all its words but the first are in small letters;
    letters without case do not tell.
    """
    alone = _STANDING_ALONE.findall(translation)
    return len(alone) >= FEWEST_WORDS_ALONE and (
        num_words >= FEWEST_WORDS or all(word[0].islower() for word in alone[1:])
    )


def _stays_in_language(source: str, translation: str, languages: tuple[str, str] | None) -> bool:
    """Tell whether a translation stays in the language of the source, with some words changed.

    Some of those that are in the source are plain ones, unlike those of code and names; and as a
    whole it reads more like the source language than like its own. The frequent words of both
    languages must be known.
    """
    if languages is None or any(base_language(one) not in LISTED_LANGUAGES for one in languages):
        return False
    plain = Counter(filter(str.islower, _alone(translation))) & Counter(_alone(source.casefold()))
    if plain.total() < FEWEST_PLAIN:
        return False
    of_source, own = languages
    return _detector(languages).detect(translation, among=(own, of_source)).language == of_source


def _copies_script(source: str, translation: str, languages: tuple[str, str] | None) -> bool:
    """Tell whether a translation is its source, in letters that its own language does not have.

    These are seen where words are not, as in Chinese and Hindi. Names in Latin letters may stay.
    Japanese and Korean have Chinese letters, too, but no sentence has them alone.
    """
    if languages is None or translation.split() != source.split():
        return False
    of_source, of_target = (scripts_of(language) - {"Latin"} for language in languages)
    if not scripts_of(languages[1]):
        return False
    own = of_target - of_source
    is_foreign_sentence = own and _ENDED.search(translation) and not _num_letters(translation, own)
    scripts = of_source if is_foreign_sentence else of_source - of_target
    return _num_letters(translation, scripts) >= FEWEST_FOREIGN


def _num_letters(text: str, scripts: frozenset[str]) -> int:
    """Count the letters of a text that belong to some scripts."""
    return sum(map(str.isalpha, _letters_of(scripts).findall(text)))


@cache
def _letters_of(scripts: frozenset[str]) -> re.Pattern[str]:
    ranges = "".join(RANGES[name] for name in scripts)
    return re.compile(f"[{ranges}]" if ranges else "(?!)")


@cache
def _detector(languages: tuple[str, str]) -> Detector:
    return Detector(languages)


def _words(text: str) -> list[str]:
    """List the words that a translation may change, without those of addresses."""
    return [word.casefold() for word in _WORD.findall(_without_addresses(text))]


def _alone(text: str) -> list[str]:
    """List the words that stand alone, unlike those of code and paths."""
    return _STANDING_ALONE.findall(_without_addresses(text))


def _without_addresses(text: str) -> str:
    if not _SIGN_OF_ADDRESS.search(text):  # looked for in less time than addresses
        return text
    return _ADDRESS.sub(" ", text)
