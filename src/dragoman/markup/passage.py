"""A text taken apart: what is translated, and how it is put back together."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Protocol

from dragoman.languages.scripts import SENTENCE_ENDS
from dragoman.terms.protected import STATEMENT, find_protected
from dragoman.tokenizers.sentences import join_translations, split_sentences
from dragoman.translation import Alternative, join

_END = r"\n\r\v\f\x85\u2028\u2029"
_LINE = re.compile(rf"(?<=[{_END}])(?=[^\S{_END}]*\S)")

_ONE_BREAK = re.compile(rf"[^\S{_END}]*(?:\r\n|[{_END}])[^\S{_END}]*")
_ITEM = re.compile(r"\s*(?:[-*•·–—]|\w{1,3}[.)])\s")
_STATEMENT = re.compile(rf"({STATEMENT}\s*)", re.VERBOSE)
_NOT_WRAPPED_AFTER = tuple(SENTENCE_ENDS + ":;：；")
_GOES_ON_AFTER = tuple(",)\"'”’»%–—-")

_WIDE = 50
"""Characters of a line that may be wrapped where the margin is; those of lists are shorter."""

_LONG = re.compile(r".{1,4000}(?:(?<=\s)|\Z)|.{4000}", re.DOTALL)
"""Text without punctuation is cut into pieces of this size; models have seen less at once."""


class Passage(Protocol):
    """A text of some kind, taken apart."""

    @property
    def pieces(self) -> list[str]:
        """What is translated, each on its own."""

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the text again, with a translation in place of each piece."""


def put_together_each(
    passages: Iterable[Passage], translations: Iterable[Alternative]
) -> list[Alternative]:
    """Write texts again, given the translations of the pieces of all, one after another."""
    rest = iter(translations)
    return [text.put_together(list(islice(rest, len(text.pieces)))) for text in passages]


class PlainText:
    r"""Lines of text, which stay lines, and the sentences in them.

    A placeholder is never cut, whatever it contains.

    >>> PlainText("The cat. The dog.\n\n- 7 -\n", "en", "it").pieces
    ['The cat. ', 'The dog.\n\n', '- 7 -\n']
    """

    def __init__(
        self,
        text: str,
        source: str,
        target: str,
        *,
        lines: bool = True,
        wraps: bool = False,
        sentences: bool = True,
    ) -> None:
        """Take a text apart.

        Args:
            text: Any text, with line breaks of any kind.
            source: Its language.
            target: The language into which it is translated.
            lines: Whether a line break separates texts; else it is a space.
            wraps: Whether a single one may also wrap a sentence, as `_goes_on` tells; then it is a
                space, too.
            sentences: Whether to cut into sentences; else only what is very long is cut.
        """
        self.target = target
        cut_more = partial(_cut_sentences, language=source) if sentences else _cut_long
        lines_of_text = _cut_lines(text, wraps=wraps) if lines else [text]
        parts = [part for line in lines_of_text for part in _cut_at_statements(line)]
        self.pieces = [piece for part in parts for piece in cut_more(part)]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the text again, with the white space that it had."""
        texts = [translation.text.strip() for translation in translations]
        return join(translations, join_translations(self.pieces, texts, self.target))


def _cut_at_statements(text: str) -> list[str]:
    """Cut before and after each statement of a template, whose order a translation must keep.

    >>> _cut_at_statements("Hello{% if new %}, and welcome{% endif %} !")
    ['Hello', '{% if new %}', ', and welcome', '{% endif %} ', '!']
    """
    return list(filter(None, _STATEMENT.split(text))) or [text]


def _cut_sentences(text: str, language: str) -> list[str]:
    """Cut after each sentence, and where one is very long, except within a placeholder."""
    sentences = split_sentences(text, language)
    return _rejoin([piece for sentence in sentences for piece in _cut_long(sentence)])


def _cut_long(text: str) -> list[str]:
    """Cut after white space what would keep everybody else waiting."""
    return _LONG.findall(text) or [text]


def _cut_lines(text: str, *, wraps: bool) -> list[str]:
    r"""Cut after line breaks, and nowhere else; blank lines stay with the line before them.

    >>> _cut_lines("The cat\nsleeps.\nRed\nBlue\n\nand so on", wraps=True)
    ['The cat\nsleeps.\n', 'Red\n', 'Blue\n\n', 'and so on']
    """
    first, *others = _LINE.split(text)
    if others and not first.strip():
        first += others.pop(0)
    return _rejoin([first, *others], wraps=wraps)


def _rejoin(pieces: Sequence[str], *, wraps: bool = False) -> list[str]:
    """Join the pieces of a text again that were cut within a placeholder, or where a line wraps."""
    terms = find_protected("".join(pieces)) if len(pieces) > 1 else []
    starts, end = [term.start for term in terms], 0
    joined = [list(pieces[:1])]
    for before, piece in pairwise(pieces):
        end += len(before)
        place = bisect_left(starts, end) - 1
        is_within_term = place >= 0 and end < terms[place].end
        if is_within_term or (wraps and _goes_on(before, piece)):
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return ["".join(parts) for parts in joined]


def _goes_on(before: str, after: str) -> bool:
    """Tell whether the break between two lines only wraps a sentence.

    It is a single one, and either a small letter follows and no punctuation comes before, or the
    line is as wide as a margin allows, ends no sentence, and no item of a list follows.
    """
    words = before.rstrip()
    last, first = words[-1:], after.lstrip()[:1]
    if not _ONE_BREAK.fullmatch(before, len(words)):
        return False
    if first.islower() and (last.isalnum() or last in _GOES_ON_AFTER):
        return True
    is_wide = len(words.strip()) >= _WIDE and last not in _NOT_WRAPPED_AFTER
    return is_wide and not _ITEM.match(after)
