"""Gettext's PO files: what has no translation gets one, marked as fuzzy, as nobody confirmed it."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from dragoman.corpora.gettext import FUZZY, Entry, PoError, escape, header_fields, read_entries
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
    edits: list[Edit] = []
    for entry in entries:
        if entry.is_header:
            _check_header(entry, reader)
            edits += _complete_header(entry, text, reader)
        elif not any(entry.translations):
            edits += _fill(entry, text, reader)
    return edit(text, edits)


def _check_header(header: Entry, reader: TextReader) -> None:
    fields = header_fields(header)
    check_language(fields.get("language", ""), reader.target, header.line, "into")
    found = re.search(r"charset=([^\s;]+)", fields.get("content-type", ""))
    if found and found[1].upper() not in ("UTF-8", "UTF8", "ASCII", "US-ASCII", "CHARSET"):
        raise DocumentError(
            header.line,
            f"it says that it is {found[1]}; convert it, as with msgconv --to-code=UTF-8",
        )


def _complete_header(header: Entry, text: str, reader: TextReader) -> Iterator[Edit]:
    """Write the language and the encoding where a template leaves them open."""
    (start, end), *_ = header.strings
    for found in _OPEN.finditer(text, start, end):
        written = "UTF-8" if found[0] == "CHARSET" else f" {reader.target}"
        yield Edit(found.start(), found.end(), written)


_OPEN = re.compile(r"(?<=Language:)[ ]?(?=\\n) | (?<=charset=)CHARSET", re.VERBOSE)


def _fill(entry: Entry, text: str, reader: TextReader) -> Iterator[Edit]:
    """Write translations of an entry, and that it is fuzzy."""
    if entry.flags is None:
        yield Edit(entry.keyword, entry.keyword, f"#, {FUZZY}{line_break_of(text)}")
    elif not entry.is_fuzzy:
        yield Edit(entry.flags[0], entry.flags[0], f" {FUZZY},")
    singular, *plurals = entry.strings
    if entry.plural is not None and not plurals:  # the only form is that of any number
        yield _translated(entry.plural, [singular], text, reader)
        return
    yield _translated(entry.id, [singular], text, reader)
    if entry.plural is not None:
        yield _translated(entry.plural, plurals, text, reader)


def _translated(
    message: str, places: Sequence[tuple[int, int]], text: str, reader: TextReader
) -> Edit:
    """Write the translation of a message at places that follow each other."""
    strings = [text[start:end] for start, end in places]
    keywords = [string[: string.index('"')] for string in strings]
    gaps = [text[a[1] : b[0]] for a, b in pairwise(places)]
    write = partial(_write, keywords=keywords, gaps=gaps, line_break=line_break_of(text))
    return Edit(places[0][0], places[-1][1], Rewritten(reader.read_string(message), write))


def _write(translation: str, keywords: Sequence[str], gaps: Sequence[str], line_break: str) -> str:
    """Write a translation behind each keyword: on one line, or a string for each of its lines."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", translation)
    if len(lines) > 1:
        lines = ["", *lines]
    strings = line_break.join(f'"{escape(line)}"' for line in lines or [""])
    written = [keyword + strings for keyword in keywords]
    return "".join(map("".join, zip(written, [*gaps, ""], strict=True)))
