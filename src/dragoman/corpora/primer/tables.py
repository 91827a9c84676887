"""Read the lexicon's tables: tab-separated, one concept per file, columns named on line one."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from dragoman.errors import DragomanError

_EMPTY = "-"


class LexiconError(DragomanError):
    """A table of the lexicon is not what the grammar needs."""


@cache
def read_table(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of one table, each a dictionary from column to text.

    Raises:
        LexiconError: a row has too few or too many columns, or an empty one.
    """
    return tuple(parse_table(name, _read(name)))


def parse_table(name: str, text: str) -> Iterator[dict[str, str]]:
    """Parse a table. Line one is ``# column<TAB>column``; ``-`` is read as an empty text.

    Raises:
        LexiconError: a row has too few or too many columns, or an empty one.
    """
    header, *lines = text.rstrip("\n").split("\n")
    columns = header.removeprefix("# ").split("\t")
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(columns) or not all(cells):
            raise LexiconError(
                f"{name}, line {number}: expected {len(columns)} filled columns "
                f"({', '.join(columns)}), got {line!r}"
            )
        values = ("" if cell == _EMPTY else cell for cell in cells)
        yield dict(zip(columns, values, strict=True))


def names_in(cell: str) -> tuple[str, ...]:
    """Split a cell that lists names, separated by commas."""
    return tuple(cell.split(",")) if cell else ()


@cache
def phrasebook() -> tuple[tuple[str, str], ...]:
    """Return everyday English-Italian pairs, in order, that no grammar would build."""
    lines = (line.split("\t") for line in _read("phrasebook.tsv").removesuffix("\n").split("\n"))
    return tuple((english, italian) for english, italian in lines)


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
