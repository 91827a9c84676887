"""Which kinds of files are translated as a whole."""

from collections.abc import Callable
from typing import NamedTuple

from dragoman.documents.gettext import take_po_apart
from dragoman.documents.markdown import take_markdown_apart
from dragoman.documents.office import OfficeDocument
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


_PAGE = DocumentFormat(Page, "text/html")
_PO = DocumentFormat(take_po_apart, "text/x-gettext-translation")
_XLIFF = DocumentFormat(take_xliff_apart, "application/xliff+xml")

_MARKDOWN = DocumentFormat(take_markdown_apart, "text/markdown")

TEXT_FORMATS = {
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
}
"""By the endings of their names, in small letters."""

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"

OFFICE_FORMATS = {
    ending: DocumentFormat(OfficeDocument, media_type)
    for ending, media_type in {
        ".docx": f"{_OPEN_XML}.wordprocessingml.document",
        ".pptx": f"{_OPEN_XML}.presentationml.presentation",
        ".xlsx": f"{_OPEN_XML}.spreadsheetml.sheet",
        ".odt": f"{_OPEN_DOCUMENT}.text",
        ".odp": f"{_OPEN_DOCUMENT}.presentation",
        ".ods": f"{_OPEN_DOCUMENT}.spreadsheet",
    }.items()
}
"""Archives, the text in which `documents.office` reads and writes."""

DOCUMENT_FORMATS = {**TEXT_FORMATS, **OFFICE_FORMATS}
"""What is translated as a whole."""
