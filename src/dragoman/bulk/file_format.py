"""What is translated: files as a sequence of blocks, which can be read independently."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from dragoman.errors import DragomanError

if TYPE_CHECKING:
    from dragoman.bulk.form import Outcome

LINES_PER_BLOCK = 2048
"""Enough for batches of lines of similar length; a kill costs the time for this many."""

LINES_PER_BLOCK_ON_GPU = 2**14
"""With ten thousand at once, a search on an H100 was more than twice as fast as with one thousand
(`benchmarks/translation_speed.md`)."""

BYTES_PER_BLOCK = 2**20
"""A block of long lines has fewer of them: it ends with the line that reaches this..."""

BYTES_PER_LINE = 2**8
"""...or, if that is more, this for each line that it may have: most lines are shorter. Its text and
its translations take some thirty times as much memory."""


class BulkError(DragomanError):
    """Files cannot be translated in this way, or not to the end."""


class Line(NamedTuple):
    """A line or record of input."""

    place: str
    """File and number, for messages."""

    text: str | None
    """What is translated; None if the record has nothing there."""

    ending: str
    """What ended the line: a line feed, with a carriage return or not, or nothing."""

    record: str = ""
    """The JSON object that the text comes from."""

    is_piece: bool = False
    """Whether it is a piece of a document, whose translation may have no part in the end."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Lines or records that follow each other in one file, translated and kept together."""

    number: int
    """From 0, through all files."""

    file: int
    """Which of the files."""

    start: int
    """Where it begins in the file: in bytes, or in rows of a table."""

    size: int
    """In the same unit."""

    first_line: int
    """How many lines there are before it, in all files."""

    first_line_of_file: int
    """How many of these are in its own file."""

    num_lines: int


def cut_rows(
    num_rows: int, rows_per_block: int, *, start: int = 0, number: int = 0
) -> Iterator[Block]:
    """Cut rows, or other texts that are counted, of a single file into blocks.

    Args:
        num_rows: How many.
        rows_per_block: Most of a block.
        start: How many there are before them.
        number: Of the first block.
    """
    for place, first in enumerate(range(start, start + num_rows, rows_per_block), start=number):
        size = min(rows_per_block, start + num_rows - first)
        yield Block(
            number=place,
            file=0,
            start=first,
            size=size,
            first_line=first,
            first_line_of_file=first,
            num_lines=size,
        )


class FileFormat(Protocol):
    """Files of one format, and the output that is made from them."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files."""

    @property
    def output_form(self) -> str:
        """What determines how the output is written, in words."""

    def cut(self, lines_per_block: int) -> list[Block]:
        """Read everything once, to see that all of it can be read, and cut it into blocks.

        Raises:
            CorpusError: a file, a line or a record is not what it should be.
        """

    def read(self, block: Block) -> list[Line]:
        """Read a block."""

    def write(self, number: int, line: Line, outcome: "Outcome") -> str:
        """Write the outcome of a line, by its number from 0 through all files."""

    def put_together(self, stream: BinaryIO, written: Iterable[str]) -> Sequence[str]:
        """Assemble the output from what was written for all lines.

        Returns:
            What its readers should know, if that was not told before.
        """
