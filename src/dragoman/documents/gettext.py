"""Gettext's PO files: what has no translation gets one, marked as fuzzy, as nobody confirmed it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from dragoman.corpora.gettext import (
    FUZZY,
    Entry,
    PoError,
    escape,
    header_fields,
    other_charset,
    read_entries,
)
from dragoman.documents.document import (
    Document,
    DocumentError,
    Edit,
    Rewritten,
    edit,
    line_break_of,
)
from dragoman.documents.languages import check_language
from dragoman.markup.text_reader import TextReader


def take_po_apart(text: str, reader: TextReader) -> Document:
    """Take a PO file apart, or a template (POT).

    Entries that have a translation stay as they are, fuzzy ones included. Of a plural, the first
    form is translated from the singular, and all others from the plural.

    Raises:
        DocumentError: it is not PO, not UTF-8, or into another language than the model's.
    """
    try:
        entries = list(read_entries(text))
    except PoError as error:
        raise DocumentError(error.line, error.reason) from None
    writer = _Writer(text, reader, line_break_of(text))
    edits: list[Edit] = []
    for entry in entries:
        if entry.is_header:
            _check_header(entry, reader)
            edits += writer.complete_header(entry)
        elif not any(entry.translations):
            edits += writer.fill(entry)
    return edit(text, edits)


def _check_header(header: Entry, reader: TextReader) -> None:
    check_language(header_fields(header).get("language", ""), reader.target, header.line, "into")
    if charset := other_charset(header):
        raise DocumentError(
            header.line,
            f"it says that it is {charset}; convert it, as with msgconv --to-code=UTF-8",
        )


_OPEN = re.compile(r"(?<=Language:)[ ]?(?=\\n) | (?<=charset=)CHARSET", re.VERBOSE)


@dataclass(frozen=True)
class _Writer:
    """Changes entries of a file."""

    text: str
    reader: TextReader
    line_break: str

    def complete_header(self, header: Entry) -> Iterator[Edit]:
        """Write the language and the encoding where a template leaves them open."""
        (start, end), *_ = header.strings
        for found in _OPEN.finditer(self.text, start, end):
            written = "UTF-8" if found[0] == "CHARSET" else f" {self.reader.target}"
            yield Edit(found.start(), found.end(), written)

    def fill(self, entry: Entry) -> Iterator[Edit]:
        """Write translations of an entry, and that it is fuzzy."""
        if entry.flags is None:
            yield Edit(entry.keyword, entry.keyword, f"#, {FUZZY}{self.line_break}")
        elif not entry.is_fuzzy:
            yield Edit(entry.flags[0], entry.flags[0], f" {FUZZY},")
        singular, *plurals = entry.strings
        if entry.plural is None or plurals:
            yield self._translate(entry.id, [singular])
        if entry.plural is not None:  # whose only form, if there is one, is that of any number
            yield self._translate(entry.plural, plurals or [singular])

    def _translate(self, message: str, places: Sequence[tuple[int, int]]) -> Edit:
        """Write the translation of a message at places that follow each other."""
        strings = [self.text[start:end] for start, end in places]
        has_escapes = "\\" in message  # of its own
        shown = message if has_escapes else message.translate(_BREAKS)
        write = partial(
            _write,
            breaks={} if has_escapes else _BREAKS,
            keywords=[string[: string.index('"')] for string in strings],
            gaps=[self.text[a[1] : b[0]] for a, b in pairwise(places)],
            line_break=self.line_break,
        )
        passage = Rewritten(self.reader.read_string(shown), write)
        return Edit(places[0][0], places[-1][1], passage)


_BREAKS: Mapping[int, str] = str.maketrans({"\n": r"\n", "\r": r"\r", "\t": r"\t"})
"""A line break that is written as an escape stays where it is."""


def _write(
    translation: str,
    breaks: Mapping[int, str],
    keywords: Sequence[str],
    gaps: Sequence[str],
    line_break: str,
) -> str:
    """Write a translation behind each keyword: on one line, or a string for each of its lines."""
    for character, written in breaks.items():
        translation = translation.replace(written, chr(character))
    lines = re.findall(r"[^\n]*\n|[^\n]+", translation)
    if len(lines) > 1:
        lines = ["", *lines]
    strings = line_break.join(f'"{escape(line)}"' for line in lines or [""])
    filled = [keyword + strings for keyword in keywords]
    return "".join(map("".join, zip(filled, [*gaps, ""], strict=True)))
