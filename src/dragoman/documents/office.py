"""Office documents: Office Open XML (DOCX, PPTX, XLSX) and OpenDocument (ODT, ODP, ODS).

Text is translated in the parts of the archive that people read; whatever stands between paragraphs
is kept.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from dragoman.documents.archive import END
from dragoman.documents.document import DocumentError
from dragoman.documents.office_open_xml import OfficeOpenXml
from dragoman.documents.open_document import OpenDocument
from dragoman.documents.paragraph import Element, Inline, Paragraph, Written
from dragoman.documents.spreadsheet import Spreadsheet, find_references
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

OFFICE_PARTS = re.compile(
    r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes)\.xml"
    r"|ppt/(?:slides/slide|notesSlides/notesSlide)\d+\.xml"
    r"|(?:word|ppt|xl)/diagrams/(?:data|drawing)\d+\.xml"  # SmartArt: its text, and how it is drawn
    r"|content\.xml|styles\.xml"
    r"|xl/(?:sharedStrings|workbook|worksheets/sheet\d+|drawings/drawing\d+|tables/table\d+"
    r"|pivotCache/pivotCacheDefinition\d+)\.xml"
)
"""The names of the files of such an archive that have text."""

_HAS_TEXT = re.compile(r"<(?:[\w.-]+:)?[tph][\s/>]")
"""The elements that hold text, in all dialects; other parts are only referred to."""


class Dialect(Protocol):
    """How XML of a kind has paragraphs."""

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find what is translated on its own."""

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""

    def fill(self, paragraph: Element, content: Sequence[Written]) -> None:
        """Replace the content of a paragraph: by text in some format, and by things."""


class OfficeDocument:
    """The parts of an office document, taken apart."""

    def __init__(self, text: str, reader: TextReader) -> None:
        """Take the parts, as `read_archive` returns them.

        Raises:
            DocumentError: one is not well-formed.
        """
        self._parts, self._reader = text.split(END), reader
        self._references = find_references(self._parts)
        self.pieces = [
            piece
            for part in self._parts
            if _HAS_TEXT.search(part)
            for _, paragraph in self._read(_parse(part))
            for piece in paragraph.pieces
        ]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the parts again. Paragraphs without words stay as they are."""
        from lxml import etree

        rest = iter(translations)
        found: list[Alternative] = []
        written: list[str] = []
        for part in self._parts:
            if not _HAS_TEXT.search(part):
                written.append(part)
                continue
            root = _parse(part)
            dialect = self._dialect_of(root)
            for element, paragraph in self._read(root):
                if paragraph.pieces:
                    pieces = list(islice(rest, len(paragraph.pieces)))
                    translated, content = paragraph.write(pieces)
                    found.append(translated)
                    dialect.fill(element, content)
            declaration = etree.tostring(root.getroottree(), encoding="UTF-8", standalone=True)
            written.append(declaration.decode())
        return join(found, END.join(written))

    def _read(self, root: Element) -> list[tuple[Element, Paragraph]]:
        dialect = self._dialect_of(root)
        return [
            (element, Paragraph(dialect.read(element), self._reader))
            for element in list(dialect.paragraphs(root))
        ]

    def _dialect_of(self, root: Element) -> Dialect:
        if "opendocument" in root.tag:
            return OpenDocument(root, self._references)
        if "spreadsheetml" in root.tag:
            return Spreadsheet(self._references)
        return OfficeOpenXml()


def _parse(xml: str) -> Element:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(xml.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(None, f"its XML is not well-formed ({error.msg})") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise DocumentError(None, "it declares entities, which office programs do not write")
    return root
