"""Which kinds of files are translated as a whole."""

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

from dragoman.documents.archive import write_archive
from dragoman.documents.epub import BOOK_PARTS, take_epub_apart
from dragoman.documents.gettext import take_po_apart
from dragoman.documents.markdown import take_markdown_apart
from dragoman.documents.office import OFFICE_PARTS, OfficeDocument
from dragoman.documents.page import Page
from dragoman.documents.subtitles import take_subrip_apart, take_webvtt_apart
from dragoman.documents.xliff import take_xliff_apart
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader

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


def _of_office(media_type: str) -> DocumentFormat:
    return DocumentFormat(OfficeDocument, media_type, OFFICE_PARTS)


_PAGE = DocumentFormat(Page, "text/html")
_PO = DocumentFormat(take_po_apart, "text/x-gettext-translation")
_XLIFF = DocumentFormat(take_xliff_apart, "application/xliff+xml")

_MARKDOWN = DocumentFormat(take_markdown_apart, "text/markdown")

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

DOCUMENT_FORMATS = {
    ".html": _PAGE,
    ".htm": _PAGE,
    ".xhtml": _PAGE._replace(media_type="application/xhtml+xml"),
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".srt": DocumentFormat(take_subrip_apart, "application/x-subrip"),
    ".vtt": DocumentFormat(take_webvtt_apart, "text/vtt"),
    ".po": _PO,
    ".pot": _PO,
    ".xlf": _XLIFF,
    ".xliff": _XLIFF,
    ".sdlxliff": _XLIFF,
    ".mqxliff": _XLIFF,
    ".docx": _of_office(f"{_OPEN_XML}.wordprocessingml.document"),
    ".pptx": _of_office(f"{_OPEN_XML}.presentationml.presentation"),
    ".xlsx": _of_office(f"{_OPEN_XML}.spreadsheetml.sheet"),
    ".odt": _of_office(f"{_OPEN_DOCUMENT}.text"),
    ".odp": _of_office(f"{_OPEN_DOCUMENT}.presentation"),
    ".ods": _of_office(f"{_OPEN_DOCUMENT}.spreadsheet"),
    ".epub": DocumentFormat(take_epub_apart, "application/epub+zip", BOOK_PARTS),
}
"""What is translated as a whole, by the endings of its name in small letters."""
