"""Gettext's PO files: what has no translation gets one, marked as fuzzy, as nobody confirmed it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dragoman.corpora.gettext import (
    FUZZY,
    Entry,
    PoError,
    escape,
    header_fields,
    other_charset,
    plural_form,
    read_entries,
)
from dragoman.documents.choices import read_choices
from dragoman.documents.document import (
    Document,
    DocumentError,
    Edit,
    Rewritten,
    edit,
    line_break_of,
    read_between,
)
from dragoman.documents.languages import check_language
from dragoman.documents.message import read_message
from dragoman.languages.scripts import EAST_ASIAN_CHARACTER, SENTENCE_ENDS
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader
from dragoman.terms.protected import find_protected
from dragoman.terms.term import cut_at_terms


def take_po_apart(text: str, reader: TextReader) -> Document:
    """Take a PO file apart, or a template (POT).

    Entries that have a translation stay as they are, fuzzy ones included. Of a plural, the form for
    one thing is translated from the singular, and all others from the plural.

    Raises:
        DocumentError: it is not PO, not UTF-8, or into another language than the model's.
    """
    try:
        entries = list(read_entries(text))
    except PoError as error:
        raise DocumentError(error.line, error.reason) from None
    headers = [header_fields(entry) for entry in entries if entry.is_header]
    plural_forms = headers[0].get("plural-forms", "") if headers else ""
    writer = _Writer(text, reader, line_break_of(text), plural_forms)
    edits = [Edit(0, 0, writer.header())] if entries and not headers else []
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


_OPEN = re.compile(
    r"(?<=Language:)[ ]?(?=\\n) | (?<=charset=)(?:CHARSET|(?:US-)?ASCII)\b", re.VERBOSE
)
"""A language and an encoding that are not named yet; msginit writes ASCII."""


_ACCELERATOR = re.compile(r"(?<![^\s>])([_&])([^\W\d_])(?!\w*[;_])")
"""The letter with which one opens a menu, after its sign, as in _File and &File."""

_TAG = re.compile(r"<[^<>]*>")

_BEHIND_KEY = f"{SENTENCE_ENDS}:： \n"
"""What stands behind a letter in brackets, as in 開く(_O)… and 名前(_N):"""

_COLUMN = re.compile(
    r"""( ^[ ]* --?\w (?: [^\s] | [ ](?![ ]) )*+ (?: \t[\t ]*+ | [ ]{2,}+ )
    | \t[\t ]*+ | (?<=[^\s.!?:;]) [ ]{3,} (?=\S) )""",
    re.VERBOSE | re.MULTILINE,
)
"""What is between the columns of a help text, or its options with that; two spaces are a slip."""


@dataclass(frozen=True)
class _Writer:
    """Changes entries of a file."""

    text: str
    reader: TextReader
    line_break: str
    plural_forms: str
    """What the header says of the forms of a plural."""

    def header(self) -> str:
        """Write a header, without which gettext reads no letters beyond ASCII."""
        return self.line_break.join(['msgid ""', 'msgstr ""', *self._fields(), "", ""])

    def _fields(self) -> Iterator[str]:
        yield f'"Language: {self.reader.target}\\n"'
        yield r'"Content-Type: text/plain; charset=UTF-8\n"'
        yield r'"Content-Transfer-Encoding: 8bit\n"'

    def complete_header(self, header: Entry) -> Iterator[Edit]:
        """Write the language and the encoding where a template leaves them open."""
        (start, end), *_ = header.strings
        if not header.translations[0]:
            yield Edit(end, end, "".join(self.line_break + field for field in self._fields()))
        for found in _OPEN.finditer(self.text, start, end):
            written = f" {self.reader.target}" if not found[0].strip() else "UTF-8"
            yield Edit(found.start(), found.end(), written)

    def fill(self, entry: Entry) -> Iterator[Edit]:
        """Write translations of an entry, and that it is fuzzy."""
        if entry.flags is None:
            yield Edit(entry.keyword, entry.keyword, f"#, {FUZZY}{self.line_break}")
        elif not entry.is_fuzzy:
            yield Edit(entry.flags, entry.flags, f" {FUZZY},")
        count = len(entry.strings)
        # Arabic has a form for none before that for one; an only form is that of any number.
        one = plural_form(self.plural_forms, 1, count, 0) if count > 1 else count
        singular = self._take_apart(entry.id)
        plural = singular if entry.plural is None else self._take_apart(entry.plural)
        for form, (start, end) in enumerate(entry.strings):
            quotation_mark = self.text.index('"', start)
            yield Edit(quotation_mark, end, singular if form == one else plural)

    def _take_apart(self, message: str) -> Rewritten:
        """Take a message apart; its translation is written as the strings behind a keyword."""
        return Rewritten(
            read_choices(message, self._read), partial(_write, line_break=self.line_break)
        )

    def _read(self, text: str) -> Passage:
        """Take a text apart: what is in columns, or after a tab, is a text of its own."""
        accelerators = _ACCELERATOR.findall(text)
        if len(accelerators) == 1:
            write = partial(_accelerate, sign=accelerators[0][0], letter=accelerators[0][1])
            return Rewritten(self._read(_ACCELERATOR.sub(r"\2", text)), write)
        return read_between(_COLUMN.split(text), partial(read_message, reader=self.reader))


def _accelerate(text: str, sign: str, letter: str) -> str:
    """Put an accelerator before the same letter, if a word begins with it, or before the first.

    No key has Chinese, Japanese or Korean letters: the one to press stands behind the words.
    """
    words = text.partition("\t")[0]  # behind it are the keys of a shortcut, such as Ctrl+O
    if EAST_ASIAN_CHARACTER.search(words):
        end = len(words.rstrip(_BEHIND_KEY))
        return f"{text[:end]}({sign}{letter.upper()}){text[end:]}"
    plain = _without_codes(words)
    found = re.search(rf"\b{letter}", plain, re.IGNORECASE) or re.search(r"[^\W\d_]", plain)
    return text if found is None else f"{text[: found.start()]}{sign}{text[found.start() :]}"


def _without_codes(text: str) -> str:
    """Write spaces for placeholders and tags, which have letters that nobody sees."""
    pieces = cut_at_terms(text, find_protected(text))
    pieces[1::2] = [" " * len(kept) for kept in pieces[1::2]]
    return _TAG.sub(lambda tag: " " * len(tag[0]), "".join(pieces))


def _write(translation: str, line_break: str) -> str:
    """Write a translation on one line, or as a string for each of its lines."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", translation)
    if len(lines) > 1:
        lines = ["", *lines]
    return line_break.join(f'"{escape(line)}"' for line in lines or [""])
