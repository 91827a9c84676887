"""Lines of plain text: as they arrive, or as blocks of a file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from dragoman.bulk.file_format import BYTES_PER_BLOCK, BYTES_PER_LINE, Block, Line
from dragoman.bulk.form import WRITERS, Form, Outcome
from dragoman.corpora.text_file import MAX_LINE_BYTES, CorpusError, decode_line

READ_AT_ONCE = 2**20
"""Maximum bytes read at once. A pipe returns what it has, so a slow writer is answered soon."""


@dataclass(frozen=True)
class PlainText:
    """UTF-8 text; a line ends at a line feed and at nothing else."""

    paths: tuple[Path, ...]
    form: Form

    @property
    def output_form(self) -> str:
        """The name of the form."""
        return self.form

    def cut(self, lines_per_block: int) -> list[Block]:
        """Check every line, and split the files into blocks."""
        return cut_lines(self.paths, lines_per_block, lambda line: None)

    def read(self, block: Block) -> list[Line]:
        """Read the lines of a block."""
        return read_block(self.paths, block)

    def write(self, number: int, line: Line, outcome: Outcome) -> str:
        """Write the translation of a line in the form that was asked for."""
        return WRITERS[self.form](number, line, outcome)

    def put_together(self, stream: BinaryIO, written: Iterable[str]) -> Sequence[str]:
        """Join the lines."""
        stream.writelines(map(str.encode, written))
        return ()


def cut_lines(
    paths: tuple[Path, ...], lines_per_block: int, check: Callable[[Line], None]
) -> list[Block]:
    """Split files into blocks of whole lines.

    Args:
        paths: The files.
        lines_per_block: Most lines of a block.
        check: Raises CorpusError for a line that is not as it should be.
    """
    blocks: list[Block] = []
    first_line = 0
    for file, path in enumerate(paths):
        ends = [(0, 0), *_ends_of_blocks(path, lines_per_block, check)]
        for (start, first), (end, last) in pairwise(ends):
            blocks.append(
                Block(
                    number=len(blocks),
                    file=file,
                    start=start,
                    size=end - start,
                    first_line=first_line + first,
                    first_line_of_file=first,
                    num_lines=last - first,
                )
            )
        first_line += ends[-1][1]
    return blocks


def _ends_of_blocks(
    path: Path, lines_per_block: int, check: Callable[[Line], None]
) -> Iterator[tuple[int, int]]:
    """Yield for each block of a file how many bytes and lines of the file end with it."""
    start = first = number = 0
    most_bytes = max(BYTES_PER_BLOCK, lines_per_block * BYTES_PER_LINE)
    with path.open("rb") as stream:
        while content := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            check(decode(content, str(path), number))
            end = stream.tell()
            if number - first == lines_per_block or end - start >= most_bytes:
                yield end, number
                start, first = end, number
        if number > first:
            yield stream.tell(), number


def read_block(paths: tuple[Path, ...], block: Block) -> list[Line]:
    """Read the lines of a block.

    A file other than the last gets a line feed at its end if it has none, so that the first line of
    the next file stays apart.
    """
    path = paths[block.file]
    with path.open("rb") as stream:
        stream.seek(block.start)
        content = stream.read(block.size)
    *complete, rest = content.split(b"\n")
    lines = [line + b"\n" for line in complete]
    if rest:
        lines.append(rest if block.file == len(paths) - 1 else rest + b"\n")
    first = block.first_line_of_file + 1
    return [decode(line, str(path), first + i) for i, line in enumerate(lines)]


def read_stream(
    stream: BufferedReader | BinaryIO, name: str, *, last: bool = True
) -> Iterator[list[Line]]:
    """Yield the complete lines of each read, as soon as they are available.

    Args:
        stream: A file, or something slower.
        name: For messages.
        last: Whether nothing follows; otherwise the last line gets a line feed if it has none.
    """
    number, rest = 1, b""
    while block := stream.read1(READ_AT_ONCE):  # type: ignore[union-attr]
        *complete, rest = (rest + block).split(b"\n")
        if complete:
            yield from _decode_all([line + b"\n" for line in complete], name, number)
        number += len(complete)
        if len(rest) > MAX_LINE_BYTES:
            decode(rest, name, number)
    if rest:
        yield [decode(rest if last else rest + b"\n", name, number)]


def _decode_all(lines: list[bytes], name: str, first: int) -> Iterator[list[Line]]:
    """Decode lines; if one cannot be decoded, those before it are yielded first."""
    decoded: list[Line] = []
    try:
        for i, line in enumerate(lines):
            decoded.append(decode(line, name, first + i))
    except CorpusError:
        if decoded:
            yield decoded
        raise
    yield decoded


def decode(content: bytes, name: str, number: int) -> Line:
    """Decode the bytes of one line, and separate its ending."""
    text = decode_line(content, name, number)
    ending = "\n" if text.endswith("\n") else ""
    text = text.removesuffix("\n")
    if text.endswith("\r"):
        text, ending = text[:-1], "\r" + ending
    return Line(f"{name}:{number}", text, ending)
