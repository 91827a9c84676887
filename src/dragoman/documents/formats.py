"""Which kinds of files are translated as a whole."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import NamedTuple

from dragoman.documents.archive import write_archive
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader

OFFICE_PARTS = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments|styles|settings|numbering)\d*\.xml"
    r"|ppt/(?:presentation|comments/\w+|(?:slides/slide|notesSlides/notesSlide|slideLayouts/slideLayout"
    r"|slideMasters/slideMaster|notesMasters/notesMaster)\d*)\.xml"
    r"|(?:word|ppt|xl)/(?:charts/chart(?:Ex)?|diagrams/(?:data|drawing)|drawings/drawing)\d*\.xml"
    r"|(?:Object \d+/)?content\.xml|styles\.xml|meta\.xml|docProps/core\.xml"
    r"|xl/(?:sharedStrings|workbook|worksheets/sheet\d*|tables/table\d*"
    r"|comments/?(?:comment)?\d*|threadedComments/threadedComment\d*|pivotCache/pivotCacheDefinition\d*)\.xml"
)
"""The names of the files of such an archive that have text, or say in which language it is.

Diagrams are SmartArt, and a drawing may be upon a chart, also in Word.
"""

BOOK_PARTS = re.compile(r"(?!META-INF/|__MACOSX/).+\.(?:x?html?|xml|ncx|opf)", re.IGNORECASE)
"""The names of the files of a book that may have text; a Mac adds others of the same names."""

TakeApart = Callable[[str, TextReader], Passage]
"""Takes the content of a file apart. It raises DocumentError where that is not what it says."""


class DocumentFormat(NamedTuple):
    """A kind of file."""

    take_apart: TakeApart
    media_type: str
    has_text: re.Pattern[str] | None = None
    """Matches the names of the files that have text, if it is an archive; see `read_archive`."""

    def write(self, text: str, file: bytes) -> bytes:
        """Write a file again with another text: UTF-8, with a byte order mark if it had one.

        Some players of films read no accents without that.
        """
        if self.has_text is not None:
            return write_archive(text, file, self.has_text)
        return codecs.BOM_UTF8 * file.startswith(codecs.BOM_UTF8) + text.encode()


@dataclass(frozen=True)
class _InModule:
    """Takes a file apart by what another module has, which is imported when it is needed.

    A command that translates lines needs none of them, and starts sooner.
    """

    place: str

    def __call__(self, text: str, reader: TextReader) -> Passage:
        passage: Passage = resolve_name(f"dragoman.documents.{self.place}")(text, reader)
        return passage


def _of_office(media_type: str) -> DocumentFormat:
    return DocumentFormat(_InModule("office:take_office_apart"), media_type, OFFICE_PARTS)


_PAGE = DocumentFormat(_InModule("page:Page"), "text/html")
_PO = DocumentFormat(_InModule("gettext:take_po_apart"), "text/x-gettext-translation")
_XLIFF = DocumentFormat(_InModule("xliff:take_xliff_apart"), "application/xliff+xml")
_JSON = DocumentFormat(_InModule("json_messages:take_json_apart"), "application/json")

_MARKDOWN = DocumentFormat(_InModule("markdown:take_markdown_apart"), "text/markdown")

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

DOCUMENT_FORMATS = {
    ".html": _PAGE,
    ".htm": _PAGE,
    ".xhtml": _PAGE._replace(media_type="application/xhtml+xml"),
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".srt": DocumentFormat(_InModule("subtitles:take_subrip_apart"), "application/x-subrip"),
    ".vtt": DocumentFormat(_InModule("subtitles:take_webvtt_apart"), "text/vtt"),
    ".po": _PO,
    ".pot": _PO,
    ".xlf": _XLIFF,
    ".xliff": _XLIFF,
    ".sdlxliff": _XLIFF,
    ".mqxliff": _XLIFF,
    ".mxliff": _XLIFF,
    ".txlf": _XLIFF,
    ".json": _JSON,
    ".arb": _JSON,
    ".docx": _of_office(f"{_OPEN_XML}.wordprocessingml.document"),
    ".pptx": _of_office(f"{_OPEN_XML}.presentationml.presentation"),
    ".xlsx": _of_office(f"{_OPEN_XML}.spreadsheetml.sheet"),
    ".odt": _of_office(f"{_OPEN_DOCUMENT}.text"),
    ".odp": _of_office(f"{_OPEN_DOCUMENT}.presentation"),
    ".ods": _of_office(f"{_OPEN_DOCUMENT}.spreadsheet"),
    ".epub": DocumentFormat(_InModule("epub:take_epub_apart"), "application/epub+zip", BOOK_PARTS),
}
"""What is translated as a whole, by the endings of its name in small letters."""
