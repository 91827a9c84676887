"""Sentence pairs from CSV, as spreadsheets write it."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

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
"""Maximum number of lines of the first row; there may be line breaks within quotation marks."""


def read_csv(path: Path, refuse: Refuse) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each row.

    A quoted cell has its quotation marks doubled and may have line breaks, which become spaces.
    Cells are separated by the tab, the semicolon or the comma: whichever splits the first row into
    two columns. If several do, it is one that no space follows, and among these the first in this
    order: a spreadsheet quotes cells that contain its separator, so the others are text.

    Args:
        path: The file.
        refuse: Called for each row that does not have two columns.

    Raises:
        CorpusError: the file is missing, empty, cut short or badly written.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    lines = (f"{text}\n" for text in read_lines(path))
    first = list(islice(lines, FIRST_LINES))
    separator = _separator(first)
    for line, row in without_blanks(path, _rows(path, chain(first, lines), separator), refuse):
        if len(row) == 2:  # noqa: PLR2004
            yield on_one_line(row[0]), on_one_line(row[1]), line
        else:
            refuse(CorpusError(f"{path}:{line}: {_wrong_columns(len(row), separator)}"))


def _rows(path: Path, lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line."""
    rows = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for row in rows:
            yield line, row
            line = rows.line_num + 1
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]  # what follows is advice to programmers
        raise CorpusError(
            f"{path}:{line}: its cells cannot be told apart ({reason}); close each quotation mark "
            "that begins a cell, and double those within"
        ) from None


def _separator(first: Sequence[str]) -> str:
    """Choose the separator of the cells by the first row."""

    def fitness(separator: str) -> tuple[bool, bool]:
        try:
            row = next(csv.reader(first, delimiter=separator), [])
        except csv.Error:  # reported when the rows are read
            row = []
        if len(row) == 2:  # noqa: PLR2004
            return True, not row[1].startswith(" ")
        return False, len(row) > 1

    return max(SEPARATORS, key=fitness)


def _wrong_columns(columns: int, separator: str) -> str:
    """Say what to do with a row that does not have two columns."""
    if columns == 1:
        return (
            "1 column where 2 are expected (source and translation, with a comma, a semicolon or a "
            "tab between); add the translation"
        )
    name = SEPARATORS[separator]
    return (
        f"{columns} columns where 2 are expected (source and translation, with a {name} between); "
        f"remove the others, or put a cell that has a {name} in it into quotation marks"
    )
