"""A file taken apart: texts that are translated, and everything between them, which is kept."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dragoman.errors import DragomanError
from dragoman.markup.passage import Passage, put_together_each
from dragoman.translation import Alternative, join

OTHER_ENCODING = re.compile(r"""<\?xml\b[^>]*?\bencoding\s*=\s*["']((?!(?i:utf-8)\b)[\w.:-]+)""")
"""The first line of a file that says to be in another encoding than the one in which it is written
again."""


class DocumentError(DragomanError):
    """A file is not what its name says, or cannot be translated.

    Attributes:
        line: Where, from 1; None for an archive.
        reason: What is wrong, and what to do.
    """

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.line, self.reason = line, reason


class Document:
    """Passages, with what stands before, between and behind them."""

    def __init__(self, parts: Sequence[str | Passage], warning: str = "") -> None:
        """Take the parts in their order; a string is kept, and a passage may be at many places.

        Args:
            parts: All that is in the file.
            warning: What whoever has it translated should know of what is kept.
        """
        self._parts, self.warning = parts, warning
        self._passages = list(dict.fromkeys(part for part in parts if not isinstance(part, str)))
        self.pieces = [piece for passage in self._passages for piece in passage.pieces]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the file again, with each passage translated."""
        translated = put_together_each(self._passages, translations)
        texts = dict(zip(self._passages, (each.text for each in translated), strict=True))
        written = (part if isinstance(part, str) else texts[part] for part in self._parts)
        return join(translated, "".join(written))


class Edit(NamedTuple):
    """A stretch of a file that is replaced: by a text, or by the translation of a passage."""

    start: int
    end: int
    replacement: str | Passage


def edit(text: str, edits: Sequence[Edit], warning: str = "") -> Document:
    """Replace stretches of a file, in their order, and keep the rest; see `Document`."""
    parts: list[str | Passage] = []
    end = 0
    for each in edits:
        parts += [text[end : each.start], each.replacement]
        end = each.end
    return Document([*parts, text[end:]], warning)


_NOT_A_CHARACTER = "\ufdd0"
"""A code point that Unicode keeps out of text."""


def unused_mark(text: str) -> str:
    """Return a mark that is not in a text, to stand in it meanwhile for something else."""
    mark = _NOT_A_CHARACTER
    while mark in text:
        mark += _NOT_A_CHARACTER
    return mark


def read_between(parts: Sequence[str], read: Callable[[str], Passage]) -> Document:
    """Take every other part apart, from the first on; those between them, and blank ones, stay."""
    return Document(
        [part if i % 2 or not part.strip() else read(part) for i, part in enumerate(parts)]
    )


def join_with(separator: str, parts: Sequence[str | Passage]) -> Document:
    """Make one document of several, with a separator between them."""
    return Document([each for part in parts for each in (separator, part)][1:])


def line_break_of(text: str) -> str:
    """Return how lines end in a file."""
    return "\r\n" if "\r\n" in text else "\n"


@dataclass(frozen=True)
class Rewritten:
    """A passage whose translation is not written as it is."""

    passage: Passage
    write: Callable[[str], str]

    @property
    def pieces(self) -> list[str]:
        """What is translated, each on its own."""
        return self.passage.pieces

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translation as its place in the file wants it."""
        found = self.passage.put_together(translations)
        return replace(found, text=self.write(found.text))
