"""A text taken apart: what is translated, and how it is put back together."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from dragoman.terms.protected import find_protected
from dragoman.tokenizers.sentences import join_translations, split_sentences
from dragoman.translation import Alternative, join

_END = r"\n\r\v\f\x85\u2028\u2029"
_LINE = re.compile(rf"(?<=[{_END}])(?=[^\S{_END}]*\S)")

_WRAPPED = re.compile(rf"[\w,)\"'][^\S{_END}]*(?:\r\n|[{_END}])[^\S{_END}]*\Z")
"""The end of a line that may only be wrapped."""

_LONG = re.compile(r".{1,4000}(?:(?<=\s)|\Z)|.{4000}", re.DOTALL)
"""Text without punctuation is cut into pieces of this size; models have seen less at once."""


class Passage(Protocol):
    """A text of some kind, taken apart."""

    @property
    def pieces(self) -> list[str]:
        """What is translated, each on its own."""

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the text again, with a translation in place of each piece."""


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
            wraps: Whether a single one may also wrap a sentence, which goes on after it: there is
                no punctuation before it and a small letter after it. Then it is a space, too.
            sentences: Whether to cut into sentences; else only what is very long is cut.
        """
        self.target = target
        cut_more = partial(_cut_sentences, language=source) if sentences else _cut_long
        lines_of_text = _cut_lines(text) if lines else [text]
        lines_of_text = _unwrap(lines_of_text) if wraps else lines_of_text
        self.pieces = [piece for line in lines_of_text for piece in cut_more(line)]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the text again, with the white space that it had."""
        texts = [translation.text.strip() for translation in translations]
        return join(translations, join_translations(self.pieces, texts, self.target))


def _cut_sentences(text: str, language: str) -> list[str]:
    """Cut after each sentence, except within a placeholder."""
    first, *others = split_sentences(text, language)
    pieces, end = [first], len(first)
    terms = find_protected(text) if others else []
    for piece in others:
        if any(term.start < end < term.end for term in terms):
            pieces[-1] += piece
        else:
            pieces.append(piece)
        end += len(piece)
    return pieces


def _cut_long(text: str) -> list[str]:
    """Cut after white space what would keep everybody else waiting."""
    return _LONG.findall(text) or [text]


def _cut_lines(text: str) -> list[str]:
    """Cut after line breaks, and nowhere else; blank lines stay with the line before them."""
    first, *others = _LINE.split(text)
    if others and not first.strip():
        first += others.pop(0)
    return [first, *others]


def _unwrap(lines: list[str]) -> list[str]:
    r"""Join the lines of a sentence that is wrapped.

    >>> _unwrap(["The cat\n", "sleeps.\n", "Red\n", "Blue\n\n", "and so on"])
    ['The cat\nsleeps.\n', 'Red\n', 'Blue\n\n', 'and so on']
    """
    joined = lines[:1]
    for line in lines[1:]:
        if _WRAPPED.search(joined[-1]) and line.lstrip()[:1].islower():
            joined[-1] += line
        else:
            joined.append(line)
    return joined
