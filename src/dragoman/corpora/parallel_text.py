"""Sentence pairs from files of many formats, two plain files or a Hugging Face data set."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice, starmap
from pathlib import Path
from typing import NamedTuple

from dragoman.corpora import huggingface
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.csv_file import read_csv
from dragoman.corpora.file_names import (
    CSV,
    JSON_LINES,
    LOCALISATION,
    PO,
    PROVENANCE,
    TBX,
    TMX,
    XLIFF,
    ending,
    pairs_instead,
)
from dragoman.corpora.opus.provenance import Provenance
from dragoman.corpora.po_file import read_po
from dragoman.corpora.record import sides
from dragoman.corpora.tbx import read_tbx
from dragoman.corpora.text_file import (
    CorpusError,
    Refuse,
    expand,
    locate,
    read_lines,
    without_blanks,
)
from dragoman.corpora.tmx import read_tmx
from dragoman.corpora.xliff import read_xliff
from dragoman.counting import counted

_LOCALISED = {TMX: read_tmx, TBX: read_tbx, PO: read_po, **dict.fromkeys(XLIFF, read_xliff)}

FIRST_LINES = 5
"""If none of this many lines has a tab, the file has no pairs at all."""


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str
    line: int
    """Where it begins in its file: the number of its line or record, from 1."""


def has_named_sides(corpus: CorpusConfig) -> bool:
    """Tell whether the sides are told apart by names, not by the order of columns or files."""
    if corpus.path is None:
        return False
    path = locate(corpus.path)
    is_data_set = corpus.path.startswith(huggingface.PREFIX) or path.is_dir()
    return is_data_set or ending(path) in (*JSON_LINES, *LOCALISATION)


def _refuse(error: CorpusError) -> None:
    raise error


def read_pairs(
    corpus: CorpusConfig, *, languages: tuple[str, str], refuse: Refuse = _refuse
) -> Iterator[Pair]:
    """Yield the pairs of a corpus in their order, in constant memory.

    Nothing is skipped: what cannot be read as a pair is an error. Pairs with an empty side are
    pairs; cleaning leaves them out and counts them.

    Args:
        corpus: Where the pairs are.
        languages: The codes of the source and of the target, which name the sides of a record or
            of a unit of a translation memory, and are those of a program's texts.
        refuse: Decides what happens to a line of a table, or a record, that holds no pair.

    Raises:
        CorpusError: the corpus is missing, empty, cut short or badly written; the message names
            the file and the line.
    """
    if corpus.path is None:
        return _read_two_files(expand(corpus.source or ""), expand(corpus.target or ""))
    if corpus.path.startswith(huggingface.PREFIX):
        return starmap(Pair, huggingface.read_hub(corpus.path, languages, refuse))
    path = locate(corpus.path)
    if (path / PROVENANCE).is_file():
        return _read_two_files(*Provenance.load(path).paths_of(languages, path))
    if path.is_dir():
        return starmap(Pair, huggingface.read_directory(path, languages, refuse))
    return _read_file(path, languages, refuse)


def _read_file(path: Path, languages: tuple[str, str], refuse: Refuse) -> Iterator[Pair]:
    """Read a file in the format that its ending names; any other ending means TSV."""
    if ending(path) in JSON_LINES:
        return _read_json_lines(path, languages, refuse)
    if (read := _LOCALISED.get(ending(path))) is not None:
        return starmap(Pair, read(path, languages))
    if ending(path) == CSV:
        return starmap(Pair, read_csv(path, refuse))
    if way := pairs_instead(ending(path)):
        raise CorpusError(f"{path}: {ending(path)} files are not read; {way}")
    return _read_tsv(path, refuse)


def _read_tsv(path: Path, refuse: Refuse) -> Iterator[Pair]:
    """Read lines of source, tab, target. There is no quoting: quotation marks are text."""
    lines = read_lines(path)
    first = list(islice(lines, FIRST_LINES))
    _refuse_plain_text(path, first)
    for line, text in without_blanks(path, enumerate(chain(first, lines), start=1), refuse):
        columns = text.split("\t")
        if len(columns) == 2:  # noqa: PLR2004
            yield Pair(columns[0], columns[1], line)
        else:
            refuse(CorpusError(_wrong_columns(f"{path}:{line}", columns)))


def _refuse_plain_text(path: Path, first: Sequence[str]) -> None:
    """Refuse a file whose first lines all lack a translation: it is probably one side of two."""
    if len(first) > 1 and first[0] and not any("\t" in text for text in first):
        raise CorpusError(
            f"{path}:1: 1 column where 2 are expected (source TAB target), and so in the lines "
            f"after it; {_other_separator(first)}"
        )


def _other_separator(first: Sequence[str]) -> str:
    """Say how to get a file read whose lines have no tab."""
    if all(text.count(";") == 1 for text in first if text):
        return "if a semicolon stands between them, name the file .csv"
    if separator := next((s for s in (" ||| ", " @@@ ") if all(s in t for t in first if t)), None):
        return f"put a tab for {separator.strip()}"
    may_be_csv = all("," in text for text in first if text)
    return (
        f"{'if a comma stands between them, name the file .csv; ' if may_be_csv else ''}"
        "if there are two plain files, paste b.en b.it > pairs.tsv joins them; or name both in a "
        'recipe (source = "b.en", target = "b.it"), for corpus check (--source b.en --target b.it) '
        "or for evaluate (--source b.en --reference b.it)"
    )


def _wrong_columns(place: str, columns: Sequence[str]) -> str:
    """Say what to do with a line that does not have two columns."""
    if len(columns) > 1:
        return (
            f"{place}: {len(columns)} columns where 2 are expected (source TAB target); "
            "remove the extra ones or tabs (cut -f1,2 keeps the first two columns)"
        )
    advice = "add the translation, or remove the line (awk -F'\\t' NF==2 keeps the pairs)"
    if columns[0].count(";") == 1:
        advice = "if a semicolon stands between them, name the file .csv; otherwise " + advice
    if columns[0].count('"') % 2 == 1:  # half a cell, or a sign for inches
        advice = (
            "if a spreadsheet wrote it, name the file .csv, as a quoted cell continues here; "
            f"otherwise {advice}"
        )
    return f"{place}: 1 column where 2 are expected (source TAB target); {advice}"


def _read_json_lines(path: Path, languages: tuple[str, str], refuse: Refuse) -> Iterator[Pair]:
    """Read one JSON record per line."""
    for line, text in without_blanks(path, enumerate(read_lines(path), start=1), refuse):
        place = f"{path}:{line}"
        try:
            source, target = sides(_load(text, place), languages, place=place)
        except CorpusError as error:
            refuse(error)
        else:
            yield Pair(source, target, line)


def _load(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{place}: not a JSON record ({error.msg.lower()} at character {error.colno}); write "
            'one a line, as {"en": "A cat.", "it": "Un gatto."}'
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
        raise CorpusError(f"{place}: not a JSON record: {error}") from None


def _read_two_files(source: Path, target: Path) -> Iterator[Pair]:
    """Read two files whose lines translate each other."""
    sources, targets = read_lines(source), read_lines(target)
    line = 0
    for line, source_text in enumerate(sources, start=1):
        target_text = next(targets, None)
        if target_text is None:
            raise CorpusError(_unequal(source, line + _count(sources), target, line - 1))
        yield Pair(source_text, target_text, line)
    if extra := _count(targets):
        raise CorpusError(_unequal(source, line, target, line + extra))
    if line == 0:
        raise CorpusError(f"{source}: the file is empty")


def _count(lines: Iterator[str]) -> int:
    """Count the lines that are left."""
    return sum(1 for _ in lines)


def _unequal(source: Path, num_sources: int, target: Path, num_targets: int) -> str:
    """Say that two files are not parallel."""
    return (
        f"{source} has {counted(num_sources, 'line')} and {target} has {num_targets:,}; "
        "each line must be the translation of the line with the same number"
    )
