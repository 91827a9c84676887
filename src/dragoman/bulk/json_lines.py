"""JSON lines: one object per line, of which one field is translated into another."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dragoman.bulk.file_format import Block, Line
from dragoman.bulk.form import Outcome, value_of
from dragoman.bulk.plain_text import cut_lines, read_block
from dragoman.corpora.text_file import CorpusError

_ONE_PER_LINE = "write each record on a line of its own, as jq -c '.[]' does with a list"


@dataclass(frozen=True)
class JsonLines:
    """Objects, one per line. A blank line stays blank."""

    paths: tuple[Path, ...]
    field: str
    into: str

    @property
    def output_form(self) -> str:
        """Which field is new."""
        return f"JSON lines with {self.field} translated into {self.into}"

    def cut(self, lines_per_block: int) -> list[Block]:
        """Check every object, and split the files into blocks."""
        return cut_lines(self.paths, lines_per_block, self._check)

    def read(self, block: Block) -> list[Line]:
        """Read the objects of a block, and extract what is translated."""
        lines = read_block(self.paths, block)
        return [
            Line(line.place, self._text(line.text or ""), line.ending, line.text or "")
            for line in lines
        ]

    def write(self, number: int, line: Line, outcome: Outcome) -> str:
        """Write the object with the translation, which is null if there is none."""
        if not line.record.strip():
            return line.record + line.ending
        return add_field(line.record, self.into, value_of(line, outcome)) + line.ending

    def put_together(self, stream: BinaryIO, written: Iterable[str]) -> Sequence[str]:
        """Join the lines."""
        stream.writelines(map(str.encode, written))
        return ()

    def _text(self, record: str) -> str | None:
        return json.loads(record)[self.field] if record.strip() else None

    def _check(self, line: Line) -> None:
        """Refuse what is not an object with a text, or already has a translation."""
        content = line.text or ""
        if not content.strip():
            return
        try:
            record = json.loads(content)
        except (ValueError, RecursionError) as error:  # the latter if nested too deeply
            reason = str(error).replace("line 1 ", "")  # of the record, which is one line
            raise CorpusError(f"{line.place}: not JSON: {reason}; {_ONE_PER_LINE}") from None
        if not isinstance(record, dict):
            raise CorpusError(f"{line.place}: not a JSON object, which has fields; {_ONE_PER_LINE}")
        if self.field not in record:
            known = ", ".join(record) or "nothing"
            raise CorpusError(f"{line.place}: no field {self.field!r}; it has {known}")
        if not isinstance(record[self.field], str | None):
            raise CorpusError(f"{line.place}: the field {self.field!r} is neither text nor null")
        if self.into in record:
            raise CorpusError(
                f"{line.place}: there is a field {self.into!r} already; --into names another"
            )


def add_field(record: str, name: str, value: object) -> str:
    """Add a field to a JSON object, and leave all others as they are written.

    >>> add_field('{"id": 1.0 }', "text", "gatto")
    '{"id": 1.0, "text": "gatto"}'
    """
    begun = record.rstrip().removesuffix("}").rstrip()
    return f"{begun}, {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}}}"
