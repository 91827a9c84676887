"""Files that are archives of other files, of which some have text."""

import codecs
import io
import math
import re
import zipfile
import zlib
from contextlib import suppress

from dragoman.documents.document import DocumentError

END = "\0"
"""Ends the text of one file before that of the next; no text has it."""

_MOST_BYTES = 2**28
"""Of all files that are read: a few kilobytes may unpack to more than any memory holds."""

_BETWEEN_TAGS = re.compile(r"(?<=>)[^<]+")
_SPACES = re.compile(r"""<text:s\s[^<>]*?\btext:c=["']([0-9]{1,9})["']""")
"""How many an element of OpenDocument stands for."""

_ENCODING = re.compile(
    r"""\A(<\?xml\s[^<>]*?\sencoding\s*=\s*["'])(?!utf-8\b)([\w-]+)""", re.IGNORECASE
)
_READ = re.compile(r"(iso-8859|windows)-[0-9]+", re.IGNORECASE)
"""Encodings of old books."""

_NOT_READ = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    LookupError,  # no encoding
    ValueError,  # not in its encoding, or a place before the beginning
    RuntimeError,  # encrypted, or another compression or version
)
"""What `zipfile` raises of files that are damaged, or are no archives."""


def read_archive(
    content: bytes,
    has_text: re.Pattern[str],
    *,
    most_bytes: int = _MOST_BYTES,
    most_in_all: float = math.inf,
) -> str:
    """Return the text of all files in an archive that have text, with `END` between them.

    Args:
        content: An archive.
        has_text: Matches the names of those files.
        most_bytes: To which these files may unpack.
        most_in_all: Bytes to which all files may unpack.

    Raises:
        DocumentError: it is not such an archive, is damaged, or unpacks to more than it may.
    """
    with _open(content) as archive:
        parts = [info for info in archive.infolist() if has_text.fullmatch(info.filename)]
        if not parts:
            raise DocumentError(None, "it has no text that is read; is its name right?")
        for infos, most in ((parts, most_bytes), (archive.infolist(), most_in_all)):
            if sum(info.file_size for info in infos) > most:
                raise DocumentError(None, f"it unpacks to more than {most / 2**20:.0f} MiB")
        with suppress(*_NOT_READ):
            if archive.testzip() is None:  # all files are written again in the end
                texts = [_decode(archive.read(part)) for part in parts]
                if not any(END in text for text in texts):
                    return END.join(texts)
        raise DocumentError(None, "it is encrypted or damaged")


def _decode(part: bytes) -> str:
    """Read XML, which may also be in UTF-16 or as it says; it is written in UTF-8, and says so."""
    is_utf_16 = part.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = part.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeError:
        said = _ENCODING.match(part.decode("latin-1"))
        if said is None or not _READ.fullmatch(said[2]):
            raise
        text = part.decode(said[2])
    return _ENCODING.sub(r"\g<1>UTF-8", text, count=1)


def count_characters(text: str) -> int:
    """Count what people read of the files that `read_archive` returns: neither tags nor indents."""
    texts = (found[0] for found in _BETWEEN_TAGS.finditer(text))
    num_spaces = sum(int(found[1]) for found in _SPACES.finditer(text))
    return num_spaces + sum(len(said) for said in texts if said.strip(f"{END} \r\n\t"))


def write_archive(text: str, content: bytes, has_text: re.Pattern[str]) -> bytes:
    """Put texts into the files of an archive that they came from; all others stay."""
    written = iter(text.split(END))
    output = io.BytesIO()
    with _open(content) as archive, zipfile.ZipFile(output, "w") as copy:
        for info in archive.infolist():
            is_text = has_text.fullmatch(info.filename) is not None
            part = next(written).encode() if is_text else archive.read(info)
            info.filename = _name_in_utf_8(info)
            copy.writestr(info, part)
    return output.getvalue()


_IS_UTF_8 = 0x800
"""Says of the name of a file in an archive that it is in UTF-8."""


def _name_in_utf_8(info: zipfile.ZipInfo) -> str:
    """Read the name of a file that is in UTF-8 without saying so, as old programs wrote it."""
    if not info.flag_bits & _IS_UTF_8:
        with suppress(UnicodeError):
            return info.filename.encode("cp437").decode()
    return info.filename


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
        raise DocumentError(None, "it is not what its name says, or it is damaged") from None
