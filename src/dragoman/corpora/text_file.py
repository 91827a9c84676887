"""Lines of UTF-8 text from plain, gzip and Zstandard files, in constant memory."""

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dragoman.corpora.file_names import PROVENANCE
from dragoman.errors import DragomanError

MAX_LINE_BYTES = 16 * 2**20
"""No sentence is that long: the file is not text, or its lines do not end in a line feed."""

COMPRESSED_CHUNK = 16 * 2**10  # bytes given to the decompressor at once; bounds its output

LONGEST_WINDOW = 2**31  # bytes; that of zstd --long=31. Memory is used only for what fills it.

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

COMPRESSED = {
    "gunzip": (b"\x1f\x8b",),
    "unzstd": (b"\x28\xb5\x2f\xfd",),
    "unxz": (b"\xfd7zXZ",),
    "bunzip2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
}
"""First bytes of compressed files, by what unpacks them."""

UTF_16, UTF_32 = (
    f"{name} text; convert it to UTF-8, as with iconv -f {name} -t UTF-8"
    for name in ("UTF-16", "UTF-32")
)

OTHER_BEGINNINGS = {
    **{
        marks: f"a compressed file; unpack it first, as with {command}"
        for command, marks in COMPRESSED.items()
    },
    (b"PK\x03\x04",): (
        "a compressed file; unpack it first, as with unzip, or save it as text if it is from an "
        "office program"
    ),
    (b"\xff\xfe\0\0", b"\0\0\xfe\xff"): UTF_32,
    (b"\xff\xfe", b"\xfe\xff"): UTF_16,
}
"""First bytes of files that are not lines of UTF-8 text, and what to do with such files."""

_VARIABLE = re.compile(r"\$(?:\{([^}]+)\}|([A-Za-z_]\w*))", re.ASCII)
_LINE_BREAKS = re.compile("[\r\n]+")


class CorpusError(DragomanError):
    """A corpus cannot be read, found or used; the message names the file and the line."""


Refuse = Callable[[CorpusError], None]
"""Called for a line that holds no pair. If it does not raise the error, the next line is read."""

Content = TypeVar("Content", str, list[str])


def expand(path: str) -> Path:
    """Replace `~` and `$VARIABLE` in a path; the name of a variable begins with no digit.

    Raises:
        CorpusError: a variable is not defined, or there is no such home directory.
    """

    def value(variable: re.Match[str]) -> str:
        name = variable[1] or variable[2]
        if name not in os.environ:
            raise CorpusError(f"{path}: the environment variable {name} is not defined")
        return os.environ[name]

    expanded = os.path.expanduser(_VARIABLE.sub(value, path))  # noqa: PTH111 - Path drops a ./
    if expanded.startswith("~"):
        raise CorpusError(
            f"{path}: there is no such home directory; write ./{expanded} for a file of this name"
        )
    return Path(expanded)


def locate(path: str) -> Path:
    """Expand the path of a corpus, and make sure that one may look whether it is there.

    Raises:
        CorpusError: as from `expand`; or a directory is closed to us, or the path is too long.
    """
    expanded = expand(path)
    try:
        (expanded / PROVENANCE).exists()  # which looks into a directory, too
    except OSError as error:
        raise CorpusError(f"{expanded}: cannot be read: {error.strerror}") from error
    return expanded


def as_setting(path: Path) -> str:
    """Write a path as a setting, which `expand` reads back.

    Raises:
        CorpusError: it would be read as another path.
    """
    text = str(path)
    if text.startswith("~") or _VARIABLE.search(text):
        raise CorpusError(
            f"{path}: in a recipe, ~ and $NAME stand for other directories; name one without them"
        )
    return text


def read_lines(path: Path) -> Iterator[str]:
    r"""Yield the lines of a text file.

    Lines end in "\n" and in nothing else: U+2028, U+0085 and the like are text. A "\r" before
    the line end and a byte order mark at the start of the file are left out.

    Raises:
        CorpusError: the file cannot be read, is cut short, or a line is not UTF-8 text.
    """
    number = 0
    with open_uncompressed(path, lambda: number) as stream:
        while line := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            text = decode_line(line, str(path), number)
            if "\0" in text:
                raise _with_nul(f"{path}:{number}")
            if number == 1:
                _refuse_old_line_ends(text, path)
            yield text.removesuffix("\n").removesuffix("\r")


def on_one_line(text: str) -> str:
    r"""Replace the line breaks within a text by spaces.

    >>> on_one_line("a\r\nb")
    'a b'
    """
    return _LINE_BREAKS.sub(" ", text)


def without_blanks(
    path: Path, lines: Iterable[tuple[int, Content]], refuse: Refuse
) -> Iterator[tuple[int, Content]]:
    """Refuse empty lines or rows, except at the end, where no pair can have been lost.

    Args:
        path: The file, for messages.
        lines: With their numbers.
        refuse: Called for each.

    Raises:
        CorpusError: there are no others, which is nearly always a mistake made upstream.
    """
    blanks: list[int] = []
    is_empty = True
    for number, content in lines:
        if not content:
            blanks.append(number)
            continue
        for blank in blanks:
            refuse(CorpusError(f"{path}:{blank}: an empty line; remove it"))
        blanks.clear()
        is_empty = False
        yield number, content
    if is_empty:
        raise CorpusError(f"{path}: the file is empty")


@contextmanager
def open_uncompressed(
    path: Path, lines_read: Callable[[], int] = lambda: 0
) -> Iterator[io.BufferedIOBase]:
    """Open a file for reading its uncompressed bytes; its ending says how it is compressed.

    Args:
        path: The file.
        lines_read: Tells, for messages, how many lines were read, if any.

    Raises:
        CorpusError: the file cannot be read, or is cut short.
    """
    try:
        with _open(path) as stream:
            yield stream
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise CorpusError(f"{path}: a directory stands where a file is expected") from None
    except (EOFError, OSError, zlib.error) as error:
        after = f" after line {lines_read()}" if lines_read() else ""
        if isinstance(error, EOFError):
            raise CorpusError(
                f"{path}: the compressed file is cut short{after}; copy it again"
            ) from None
        if isinstance(error, OSError) and error.strerror:
            raise CorpusError(f"{path}: cannot be read{after}: {error.strerror}") from error
        if not after:  # the decompressor's error, not the system's
            raise CorpusError(
                f"{path}: it is not compressed, or damaged; if it is text, take {path.suffix} off "
                "its name"
            ) from None
        raise CorpusError(
            f"{path}: the compressed file is damaged{after} ({error}); copy it again"
        ) from None


def _open(path: Path) -> io.BufferedIOBase:
    """Open a file for reading its uncompressed bytes."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path)
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(_ZstandardReader(path))
    return path.open("rb")


def decode_line(content: bytes, name: str, number: int) -> str:
    """Decode the bytes of one line, its line end included.

    Args:
        content: What was read; of a line that is too long, any number of bytes over the limit.
        name: Of the file, for messages.
        number: From 1. A byte order mark is removed from the first line.

    Raises:
        CorpusError: it is not UTF-8 text; the message says what it is, if its beginning shows it.
    """
    if len(content) > MAX_LINE_BYTES:
        raise CorpusError(
            f"{name}:{number}: a line of more than {MAX_LINE_BYTES} bytes; is this text?"
        )
    if number == 1:
        content = content.removeprefix(BYTE_ORDER_MARK)
        _refuse_other_files(content, name)
        if content.startswith(b"<?xml") and b"\t" not in content:  # a pair may begin like this
            raise CorpusError(
                f"{name}: XML, which is not read line by line; save the text in it line by line"
            )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _not_utf_8(f"{name}:{number}", content, error.start) from None


def decode_file(content: bytes, name: str) -> str:
    """Decode all bytes of a file, and leave out its byte order mark.

    Raises:
        CorpusError: it is not UTF-8 text; the message says what it is, if its beginning shows it.
    """
    content = content.removeprefix(BYTE_ORDER_MARK)
    _refuse_other_files(content, name)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        start = content.rfind(b"\n", 0, error.start) + 1
        number = content.count(b"\n", 0, start) + 1
        raise _not_utf_8(f"{name}:{number}", content[start:], error.start - start) from None
    if (nul := text.find("\0")) >= 0:
        number = text.count("\n", 0, nul) + 1
        raise _with_nul(f"{name}:{number}")
    return text


def _refuse_other_files(content: bytes, name: str) -> None:
    """Refuse a file whose beginning shows that it is no UTF-8 text."""
    for beginnings, refusal in OTHER_BEGINNINGS.items():
        if content.startswith(beginnings):
            raise CorpusError(f"{name}: {refusal}")
    zeros = content.count(0) / max(1, len(content))  # in the languages of Europe, 1/2 or 3/4
    if zeros > 1 / 3:
        raise CorpusError(f"{name}: {UTF_16 if zeros < 2 / 3 else UTF_32}")


def _not_utf_8(place: str, line: bytes, start: int) -> CorpusError:
    return CorpusError(
        f"{place}: not UTF-8 (byte 0x{line[start]:02x} at position {start}); convert it to UTF-8, "
        "as with iconv -f WINDOWS-1252 -t UTF-8 if it is from Windows"
    )


def _with_nul(place: str) -> CorpusError:
    return CorpusError(
        f"{place}: a NUL character, which text does not have; remove it, or convert the file if "
        "it is UTF-16"
    )


def _refuse_old_line_ends(first: str, path: Path) -> None:
    """Refuse a file that is one line only because carriage returns alone end its lines."""
    if not first.endswith("\n") and "\r" in first.rstrip("\r"):
        raise CorpusError(
            f"{path}: its lines end in carriage returns alone; convert it, as with tr '\\r' '\\n'"
        )


class _ZstandardReader(io.RawIOBase):
    """The bytes inside a Zstandard file of any number of frames.

    The reader of `zstandard` takes a truncated file for a complete one; this one raises EOFError,
    as gzip does.
    """

    def __init__(self, path: Path) -> None:
        import zstandard

        self._decompressor = zstandard.ZstdDecompressor(max_window_size=LONGEST_WINDOW)
        self._error = zstandard.ZstdError
        self._file = path.open("rb")
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._output = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._output:
            compressed = self._frame.unused_data if self._frame and self._frame.eof else b""
            if not (compressed := compressed or self._file.read(COMPRESSED_CHUNK)):
                if self._frame is not None and not self._frame.eof:
                    raise EOFError
                return 0
            self._output = memoryview(self._decompress(compressed))
        size = min(len(buffer), len(self._output))
        buffer[:size] = self._output[:size]
        self._output = self._output[size:]
        return size

    def _decompress(self, compressed: bytes) -> bytes:
        """Continue the current frame, or start the next one when it is complete."""
        if self._frame is None or self._frame.eof:
            self._frame = self._decompressor.decompressobj()
        try:
            return self._frame.decompress(compressed)
        except self._error as error:
            raise OSError(str(error)) from None

    def close(self) -> None:
        self._file.close()
        super().close()
