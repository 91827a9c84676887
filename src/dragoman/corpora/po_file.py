"""Sentence pairs from PO, which gettext keeps the texts of programs in."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman.corpora.gettext import (
    Entry,
    PoError,
    header_fields,
    other_charset,
    plural_form,
    read_entries,
)
from dragoman.corpora.text_file import CorpusError, decode_file, on_one_line, open_uncompressed
from dragoman.languages.codes import closest_language

SEVERAL = 5
"""The text for several things is paired with the form for so many; where a language has others for
two things or a hundred, they are in no pair."""


def read_po(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the line of each text; of an entry with a plural, two pairs.

    The texts of a program are in the source language and their translations in the target language,
    or the other way round if the header says that the translations are in the source language.
    Where nobody has translated a text, or confirmed its translation ("fuzzy"), the side of the
    translation is empty, which cleaning leaves out and counts.

    Raises:
        CorpusError: the file is missing, cut short, badly written, not in UTF-8, without entries,
            or in other languages.
    """
    entries = _entries(path)
    header = next((header_fields(entry) for entry in entries if entry.is_header), {})
    texts = [entry for entry in entries if not entry.is_header]
    if not texts:
        raise CorpusError(f"{path}: it has no entry with a text; is it PO?")
    is_reversed = _is_reversed(path, header.get("language", ""), languages)
    for entry in texts:
        for text, translation in _pairs(entry, header.get("plural-forms", "")):
            source, target = (translation, text) if is_reversed else (text, translation)
            yield source, target, entry.line


def _entries(path: Path) -> Sequence[Entry]:
    """Read a whole file.

    Raises:
        CorpusError: it is not PO in UTF-8.
    """
    with open_uncompressed(path) as stream:
        content = stream.read()
    if charset := _other_charset(content):
        raise CorpusError(
            f"{path}: its header says that it is in {charset}; convert it to UTF-8, as with "
            "msgconv --to-code=UTF-8"
        )
    text = decode_file(content, str(path))
    try:
        return list(read_entries(text))
    except PoError as error:
        raise CorpusError(
            f"{path}:{error.line}: not PO: {error.reason}; msgfmt --check names all such lines"
        ) from None


def _other_charset(content: bytes) -> str | None:
    """Return what the header says of the encoding, which is to be known before text is decoded."""
    try:
        entries = read_entries(content.decode("latin-1"))
        return next((other_charset(entry) for entry in entries if entry.is_header), None)
    except PoError:  # reported when the text is read
        return None


def _is_reversed(path: Path, code: str, languages: tuple[str, str]) -> bool:
    """Tell whether the translations are in the source language.

    Args:
        path: The file, for messages.
        code: What the header says of their language, if anything.
        languages: The codes of the source and of the target.

    Raises:
        CorpusError: they are in neither language.
    """
    source, target = languages
    closest = closest_language((target, source), code)
    if code and closest is None:
        raise CorpusError(
            f"{path}: its header says Language: {code}, and what is asked for is {source} to "
            f"{target}; name the languages of the file, or correct the header"
        )
    return closest == source


def _pairs(entry: Entry, plural_forms: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of an entry, each with its translation if somebody has confirmed it."""
    translations = [""] * len(entry.translations) if entry.is_fuzzy else entry.translations
    if entry.plural is None:
        yield _one_line(entry.id), _one_line(translations[0])
        return
    last = len(translations) - 1
    for text, number, default in ((entry.id, 1, 0), (entry.plural, SEVERAL, last)):
        form = plural_form(plural_forms, number, len(translations), default)
        yield _one_line(text), _one_line(translations[form])


def _one_line(text: str) -> str:
    """Leave out a line break at the end, and replace others by spaces."""
    return on_one_line(text.strip("\r\n"))
