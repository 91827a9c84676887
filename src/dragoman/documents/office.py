"""Office documents: Office Open XML (DOCX, PPTX, XLSX) and OpenDocument (ODT, ODP, ODS).

Text is translated in the parts of the archive that people read; whatever stands between paragraphs
is kept.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from dragoman.documents.archive import END
from dragoman.documents.document import Document, DocumentError, join_with
from dragoman.documents.formulas import (
    compute_on_opening,
    find_references,
    has_computed_text,
    is_named,
)
from dragoman.documents.languages import turns
from dragoman.documents.office_controls import disconnect_controls
from dragoman.documents.office_direction import lay_down, turn
from dragoman.documents.office_language import name_language, say_for_script
from dragoman.documents.office_open_xml import OfficeOpenXml
from dragoman.documents.office_strings import StringPlace, find_strings
from dragoman.documents.open_document import OpenDocument
from dragoman.documents.paragraph import Element, Inline, Paragraph, name_of
from dragoman.documents.spreadsheet import Spreadsheet
from dragoman.languages.scripts import is_right_to_left, loses_columns
from dragoman.markup.passage import Passage, put_together_each
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

_HAS_NO_TEXT = re.compile(
    r"(?:\s|<\?[^>]*>|<![^>]*>)*<(?:[\w.-]+:)?"
    r"(?:workbook|table|pivotCacheDefinition|math|worksheet(?!.*(?:<(?:[\w.-]+:)?is[\s>]"
    r"|<(?:[\w.-]+:)?c(?=[^<>]*\st=[\"']str[\"'])[^<>]*+>\s*<(?:[\w.-]+:)?v"
    r"|\s(?:tooltip|(?:prompt|error)(?:Title)?)=)))[\s>/]",
    re.DOTALL,
)
"""Parts without text of their own: others have what they name, or it is a formula."""

_NOT_READ_IN = re.compile(r"<(?:[\w.-]+:)?altChunk\b")
"""What stands in DOCX for a file, such as a page, which Word reads in when it opens that."""

_SHEET_VIEW, _SHEETS = "sheetView", "sheets>"
"""What says how the columns of a sheet run, and what only a workbook has."""


class Dialect(Protocol):
    """How XML of a kind has paragraphs."""

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find what is translated on its own."""

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""

    def fill(self, paragraph: Element, content: Sequence[Inline]) -> None:
        """Replace the content of a paragraph: by text in some format, and by things."""


class _ParagraphPlace:
    """A paragraph; its translation is put in its place."""

    def __init__(self, element: Element, dialect: Dialect, reader: TextReader) -> None:
        self._element, self._dialect = element, dialect
        self._paragraph = Paragraph(dialect.read(element), reader)
        self.pieces = self._paragraph.pieces

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Fill the paragraph."""
        translated, content = self._paragraph.write(translations)
        self._dialect.fill(self._element, content)
        return translated


class _StringPlace:
    """A text outside paragraphs; its translation is put in its place."""

    def __init__(self, place: StringPlace, reader: TextReader) -> None:
        self._place, self._passage = place, reader.read_string(place.text)
        self.pieces = self._passage.pieces

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Say the translation, or as much of it as there is room for."""
        translated = self._passage.put_together(translations)
        if self._place.write(translated.text):
            return translated
        return replace(translated, faults=(*translated.faults, "is far too long"))


def take_office_apart(text: str, reader: TextReader) -> Document:
    """Take the parts of an office document apart, as `read_archive` returns them.

    Raises:
        DocumentError: one is not well-formed, or stands for a file of another kind.
    """
    parts = text.split(END)
    if any(map(_NOT_READ_IN.search, parts)):
        raise DocumentError(
            None, "text of it is in a file within it (altChunk); open it in Word, and save it anew"
        )
    references = find_references(parts)
    computes = any(map(has_computed_text, parts))

    def is_read(part: str) -> bool:
        has_text = _HAS_NO_TEXT.match(part) is None
        return has_text or (turns(reader) and _SHEET_VIEW in part) or (computes and _SHEETS in part)

    return join_with(
        END, [_Part(part, references, reader) if is_read(part) else part for part in parts]
    )


class _Part:
    """A part with text, or with what depends on the language of a text."""

    def __init__(self, xml: str, references: frozenset[str], reader: TextReader) -> None:
        self._xml, self._references, self._reader = xml, references, reader
        self.pieces = [piece for place in self._read(_parse(xml)) for piece in place.pieces]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the part again. Paragraphs without words stay as they are."""
        from lxml import etree

        root = _parse(self._xml)
        found = put_together_each(self._read(root), translations)
        self._finish(root)
        xml = etree.tostring(root.getroottree(), encoding="UTF-8", standalone=True)
        return join(found, xml.decode())

    def _finish(self, root: Element) -> None:
        """Change what depends on the language of a part, and not on its words."""
        name_language(root, self._reader)
        say_for_script(root, self._reader)
        disconnect_controls(root)
        if name_of(root) == "workbook":  # which is read for nothing else
            compute_on_opening(root)
        if loses_columns(self._reader.source, self._reader.target):
            lay_down(root)
        if turns(self._reader):
            turn(root, from_right=is_right_to_left(self._reader.target))

    def _read(self, root: Element) -> list[Passage]:
        """Find what has words."""
        dialect = _dialect_of(root, self._references)
        places: list[Passage] = [
            *(  # first, as paragraphs are filled with copies of links
                _StringPlace(place, self._reader)
                for place in find_strings(root)
                if not is_named(place.text, self._references)
            ),
            *(_ParagraphPlace(each, dialect, self._reader) for each in dialect.paragraphs(root)),
        ]
        return [place for place in places if place.pieces]


def _dialect_of(root: Element, references: frozenset[str]) -> Dialect:
    if "opendocument" in root.tag:
        return OpenDocument(root, references)
    if "spreadsheetml" in root.tag:
        return Spreadsheet(references)
    return OfficeOpenXml()


def _parse(xml: str) -> Element:
    from lxml import etree

    parser = etree.XMLParser(  # a comment within a text would part it, and nobody sees it
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(xml.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(None, f"its XML is not well-formed ({error.msg})") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise DocumentError(None, "it declares entities, which office programs do not write")
    return root
