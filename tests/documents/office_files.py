"""Office documents that tests pack, and what becomes of them."""

import io
import zipfile
from collections.abc import Callable

from tests.alternative import says
from tests.documents.translated import READER, in_capitals

from dragoman.documents.archive import read_archive, write_archive
from dragoman.documents.formats import OFFICE_PARTS
from dragoman.documents.office import take_office_apart
from dragoman.markup.text_reader import TextReader

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OTHERS = {"[Content_Types].xml": b"<Types/>", "word/media/a.png": bytes(range(256))}
HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n"


def docx(body: str, **others: bytes) -> bytes:
    """Pack a document of Office Open XML."""
    document = f"{HEAD}<w:document {W}><w:body>{body}</w:body></w:document>"
    return packed({**OTHERS, "word/document.xml": document.encode(), **others})


def odt(body: str) -> bytes:
    """Pack a document of OpenDocument, whose first part says so, and is not compressed."""
    names = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    office = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    content = f"{HEAD}<office:text {office} {names}>{body}</office:text>"
    mimetype = b"application/vnd.oasis.opendocument.text"
    return packed({"mimetype": mimetype, "content.xml": content.encode()})


def packed(parts: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return output.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pieces(content: bytes) -> list[str]:
    passage = take_office_apart(read_archive(content, OFFICE_PARTS), READER)
    return [piece.strip() for piece in passage.pieces]


def translated(
    content: bytes,
    translate: Callable[[str], str] = in_capitals,
    reader: TextReader = READER,
) -> bytes:
    document = take_office_apart(read_archive(content, OFFICE_PARTS), reader)
    text = document.put_together([says(translate(piece.strip())) for piece in document.pieces]).text
    return write_archive(text, content, OFFICE_PARTS)


def run(text: str, form: str = "") -> str:
    properties = f"<w:rPr>{form}</w:rPr>" if form else ""
    return f"<w:r>{properties}<w:t>{text}</w:t></w:r>"


def paragraph(*content: str) -> str:
    return f"<w:p><w:pPr/>{''.join(content)}</w:p>"
