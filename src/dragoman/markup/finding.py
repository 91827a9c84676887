"""Where in the translation of a sentence that of a part of it stands."""

import re

from dragoman.languages.scripts import SENTENCE_ENDS, is_mark
from dragoman.markup.spans import Span
from dragoman.terms.term import is_of_word

FULL_STOPS = ".\u3002\uff0e\uff61\u0964"


def find_translation(
    text: str, whole: str, begins_in_word: bool, ends_in_word: bool
) -> list[tuple[int, int]]:
    """Find a translation as whole words, ignoring case and a final full stop.

    What began or ended within a word of the source, as in `<b>core</b>1.97`, may do so again.
    """
    words = text.strip().rstrip(FULL_STOPS)
    found = _find_words(words, whole, re.IGNORECASE)
    if found or not (begins_in_word or ends_in_word):
        return found
    return _find_words(words, whole, re.IGNORECASE, begins_in_word, ends_in_word)


def end_of_sentence(whole: str, place: int) -> int:
    """Tell how far the signs go that end a sentence, from a place on."""
    return len(whole) - len(whole[place:].lstrip(SENTENCE_ENDS))


def is_within_word(text: str, place: int) -> bool:
    """Tell whether a word continues at a place."""
    return 0 < place < len(text) and is_of_word(text[place - 1]) and is_of_word(text[place])


def find_kept(text: str, whole: str) -> list[tuple[int, int]]:
    """Find what was not translated, verbatim, with the white space beside it that it contains."""
    begins, ends = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())

    def widened(start: int, end: int) -> tuple[int, int]:
        before, after = whole[max(0, start - begins) : start], whole[end : end + ends]
        return (
            start - len(before) + len(before.rstrip()),
            end + len(after) - len(after.lstrip()),
        )

    return [
        widened(start, end)
        for start, end in _find_words(text.strip(), whole, re.NOFLAG)
        if not (is_of_word(whole[start - 1 : start]) and is_of_word(whole[end : end + 1]))
    ]


INITIAL = re.compile(r"\W*+[^\W\d_]")
"""A sentence up to its first letter, which books print large."""


def find_initial(span: Span, whole: str) -> list[tuple[int, int]]:
    """Find the first letter of a translation, and the signs before it if they are in the span."""
    found = INITIAL.match(whole)
    if not found:
        return []
    return [(found.end() - 1 if span.text[0].isalpha() else found.start(), found.end())]


def _is_between_words(text: str, place: int) -> bool:
    """Tell whether no word continues at a place, as between the two of %s%s."""
    before, after = text[max(0, place - 1) : place], text[place : place + 1]
    return not (is_mark(after) or (_is_of_name(before) and _is_of_name(after)))


def _is_of_name(character: str) -> bool:
    return is_of_word(character) or character == "_"


def _find_words(
    words: str,
    whole: str,
    flags: re.RegexFlag,
    begins_in_word: bool = False,
    ends_in_word: bool = False,
) -> list[tuple[int, int]]:
    if not words:
        return []
    pattern = re.compile(re.escape(words), flags)
    places: list[tuple[int, int]] = []
    start = 0
    while found := pattern.search(whole, start):
        start, end = found.span()
        begins = begins_in_word or _is_between_words(whole, start)
        ends = ends_in_word or _is_between_words(whole, end)
        if begins and ends and not is_mark(whole[end : end + 1]):
            places.append((start, end))
            start = end
        else:
            start += 1
    return places
