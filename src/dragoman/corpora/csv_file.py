"""Sentence pairs from CSV, as spreadsheets write it."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from dragoman.corpora.text_file import (
    MAX_LINE_BYTES,
    CorpusError,
    Refuse,
    on_one_line,
    read_lines,
    without_blanks,
)

SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}

FIRST_LINES = 20
"""By which the separator is chosen; the first row may have as many, as there may be line breaks
within quotation marks."""

_DECLARATION = re.compile('"?sep=([\t;,])"?\n')
"""A first line that tells Excel the separator; it is no row."""


class _Dialect(NamedTuple):
    separator: str
    has_spaces: bool
    """Whether spaces follow the separators, which are no text then, nor the marks after them."""


def read_csv(path: Path, refuse: Refuse) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each row.

    A quoted cell has its quotation marks doubled and may have line breaks, which become spaces.
    Cells are separated by the tab, the semicolon or the comma: whichever splits the first row into
    two columns. If several do, it is the one that splits most of the next rows so, then one that no
    space follows, and among these the first in this order: a spreadsheet quotes cells that contain
    its separator, so the others are text. If a space follows it in the first row, the spaces after
    it are left out everywhere. A first line such as `sep=;` is no row.

    Args:
        path: The file.
        refuse: Called for each row that does not have two columns.

    Raises:
        CorpusError: the file is missing, empty, cut short or badly written.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    lines = (f"{text}\n" for text in read_lines(path))
    first = list(islice(lines, FIRST_LINES))
    declaration = _DECLARATION.fullmatch(first[0]) if first else None
    start = 1 if declaration else 0
    dialect = _dialect(first[start:], declaration[1] if declaration else SEPARATORS)
    rows = _rows(path, chain(first[start:], lines), dialect, start + 1)
    for line, row in without_blanks(path, rows, refuse):
        if len(row) == 2:  # noqa: PLR2004
            yield on_one_line(row[0]), on_one_line(row[1]), line
        else:
            refuse(CorpusError(f"{path}:{line}: {_wrong_columns(len(row), dialect.separator)}"))


def _reader(lines: Iterable[str], dialect: _Dialect) -> Iterator[tuple[list[str], int]]:
    """Yield each row, and how many lines were read with it."""
    separator, has_spaces = dialect
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=has_spaces, strict=True)
    for row in rows:
        yield row, rows.line_num


def _rows(
    path: Path, lines: Iterable[str], dialect: _Dialect, start: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line; `start` is that of the first row."""
    line = start
    try:
        for row, lines_read in _reader(lines, dialect):
            yield line, row
            line = start + lines_read
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]  # what follows is advice to programmers
        advice = (
            "convert its line ends, as tr '\\r' '\\n' does"
            if "new-line" in reason
            else "close each quotation mark that begins a cell, double those within, and leave no "
            "space before a separator"
        )
        raise CorpusError(
            f"{path}:{line}: its cells cannot be told apart ({reason}); {advice}"
        ) from None


def _dialect(first: Sequence[str], separators: Iterable[str]) -> _Dialect:
    """Choose by the first rows how the cells are separated."""

    def fitness(dialect: _Dialect) -> tuple[bool, int, bool]:
        rows: list[list[str]] = []
        with suppress(csv.Error):  # reported when the rows are read, unless it is the end of these
            rows.extend(row for row, _ in _reader(first, dialect))
        row, *others = rows or [[]]
        if len(row) == 2:  # noqa: PLR2004
            pairs = sum(len(other) == 2 for other in others)  # noqa: PLR2004
            return True, pairs, not row[1].startswith(" ")
        return False, 0, len(row) > 1

    choices = [_Dialect(separator, spaces) for spaces in (False, True) for separator in separators]
    return max(choices, key=fitness)


def _wrong_columns(columns: int, separator: str) -> str:
    """Say what to do with a row that does not have two columns."""
    if columns == 1:
        return (
            "1 column where 2 are expected (source and translation, with a comma, a semicolon or a "
            "tab between); add the translation, or remove the row"
        )
    name = SEPARATORS[separator]
    return (
        f"{columns} columns where 2 are expected (source and translation, with a {name} between); "
        f"remove the others, or put a cell that has a {name} in it into quotation marks"
    )
