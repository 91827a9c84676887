"""Office documents: Office Open XML (DOCX, PPTX, XLSX) and OpenDocument (ODT, ODP, ODS).

Such a file is an archive with XML in it. Text is translated in the parts that people read; all
other parts, and whatever stands between paragraphs, are kept.
"""

import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Protocol

from dragoman.documents.document import DocumentError
from dragoman.documents.office_open_xml import OfficeOpenXml
from dragoman.documents.open_document import OpenDocument
from dragoman.documents.paragraph import Element, Inline, Paragraph, Written
from dragoman.documents.spreadsheet import Spreadsheet, find_references
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

_MOST_BYTES = 2**28
"""Of all parts that are read: a few kilobytes may unpack to more than any memory holds."""

_PARTS = re.compile(
    r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes)\.xml"
    r"|ppt/(?:slides/slide|notesSlides/notesSlide)\d+\.xml|content\.xml|styles\.xml"
    r"|xl/(?:sharedStrings|workbook|worksheets/sheet\d+|drawings/drawing\d+|tables/table\d+"
    r"|pivotCache/pivotCacheDefinition\d+)\.xml"
)
_HAS_TEXT = re.compile(r"<(?:[\w.-]+:)?[tph][\s/>]")
"""The elements that hold text, in all dialects; other parts are only referred to."""

_END = "\0"  # which XML cannot have
_BETWEEN_TAGS = re.compile(r"(?<=>)[^<]+")
_NOT_READ = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,  # not UTF-8, or a place before the beginning
    RuntimeError,  # encrypted, or another compression or version
)
"""What `zipfile` raises of files that are damaged, or are no archives."""


class Dialect(Protocol):
    """How XML of a kind has paragraphs."""

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find what is translated on its own."""

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""

    def fill(self, paragraph: Element, content: Sequence[Written]) -> None:
        """Replace the content of a paragraph: by text in some format, and by things."""


def read_office(
    content: bytes, *, most_bytes: int = _MOST_BYTES, most_in_all: float = math.inf
) -> str:
    """Return the XML of all parts that have text, as `OfficeDocument` takes it.

    Args:
        content: An archive.
        most_bytes: To which the parts that have text may unpack.
        most_in_all: Bytes to which all parts may unpack.

    Raises:
        DocumentError: it is not such an archive, is damaged, or unpacks to more than it may.
    """
    with _open(content) as archive:
        parts = [info for info in archive.infolist() if _PARTS.fullmatch(info.filename)]
        if not parts:
            raise DocumentError(None, "it has no text that is read; is its name right?")
        for infos, most in ((parts, most_bytes), (archive.infolist(), most_in_all)):
            if sum(info.file_size for info in infos) > most:
                raise DocumentError(None, f"it unpacks to more than {most / 2**20:.0f} MiB")
        with suppress(*_NOT_READ):
            if archive.testzip() is None:  # all parts are written again in the end
                return _END.join(archive.read(part).decode("utf-8-sig") for part in parts)
        raise DocumentError(None, "it is encrypted or damaged")


def count_characters(text: str) -> int:
    """Count what people read of the XML that `read_office` returns: neither tags nor indents."""
    texts = (found[0] for found in _BETWEEN_TAGS.finditer(text))
    return sum(len(said) for said in texts if said.strip(f"{_END} \r\n\t"))


def write_office(text: str, content: bytes) -> bytes:
    """Put XML into the parts of an archive that it came from; all others stay."""
    written = iter(text.split(_END))
    output = io.BytesIO()
    with _open(content) as archive, zipfile.ZipFile(output, "w") as copy:
        for info in archive.infolist():
            is_text = _PARTS.fullmatch(info.filename) is not None
            copy.writestr(info, next(written).encode() if is_text else archive.read(info))
    return output.getvalue()


_OLD = bytes.fromhex("D0CF11E0A1B11AE1")
"""With what files of old office programs begin, and all that Microsoft's encrypt."""


def _open(content: bytes) -> zipfile.ZipFile:
    if content.startswith(_OLD):
        raise DocumentError(
            None, "it has a password, or is of an old kind such as .doc; save it anew"
        )
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except _NOT_READ:
        raise DocumentError(None, "it is not an office document, or a damaged one") from None


class OfficeDocument:
    """The parts of an office document, taken apart."""

    def __init__(self, text: str, reader: TextReader) -> None:
        """Take the parts, as `read_office` returns them.

        Raises:
            DocumentError: one is not well-formed.
        """
        self._parts, self._reader = text.split(_END), reader
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
        return join(found, _END.join(written))

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
