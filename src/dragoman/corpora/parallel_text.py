"""Sentence pairs from TSV, JSON lines, two plain files or a Hugging Face data set."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dragoman.corpora import huggingface
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.file_names import JSON_LINES, OTHER_COMPRESSIONS, OTHER_FORMATS, ending
from dragoman.corpora.record import sides
from dragoman.corpora.text_file import CorpusError, expand, read_lines

__all__ = ["CorpusError", "Pair", "read_pairs"]

PROVENANCE = "corpus.toml"  # what marks the directory of a downloaded corpus


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str
    line: int
    """Where it stands in its file: the number of its line or record, from 1."""


def has_named_sides(corpus: CorpusConfig) -> bool:
    """Tell whether names say which side is which, and not the order of columns or files."""
    if corpus.path is None:
        return False
    path = expand(corpus.path)
    is_data_set = corpus.path.startswith(huggingface.PREFIX) or path.is_dir()
    return is_data_set or ending(path) in JSON_LINES


def read_pairs(corpus: CorpusConfig, *, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of a corpus in their order, in constant memory.

    Nothing is skipped: what cannot be read as a pair is an error. Pairs with an empty side are
    pairs; it is cleaning that leaves them out, and counts them.

    Args:
        corpus: Where the pairs are.
        languages: The codes of the source and of the target, which name the sides of a record.

    Raises:
        CorpusError: the corpus is missing, empty, cut short or badly written; the message names
            the file and the line.
    """
    if corpus.path is None:
        return _read_two_files(expand(corpus.source or ""), expand(corpus.target or ""))
    if corpus.path.startswith(huggingface.PREFIX):
        return _numbered(huggingface.read_hub(corpus.path, languages))
    path = expand(corpus.path)
    if (path / PROVENANCE).is_file():
        return _read_two_files(*_files_of(path, languages))
    if path.is_dir():
        return _numbered(huggingface.read_directory(path, languages))
    if ending(path) in JSON_LINES:
        return _read_json_lines(path, languages)
    if ending(path) in OTHER_FORMATS:
        raise CorpusError(
            f"{path}: {ending(path)} files are not read; save the pairs as TSV, a line each "
            "(source TAB target), or as JSON lines (.jsonl)"
        )
    if ending(path) in OTHER_COMPRESSIONS:
        raise CorpusError(
            f"{path}: {ending(path)} files are not read; unpack it, or compress its TSV or JSON "
            "lines with gzip or zstd"
        )
    return _read_tsv(path)


def _files_of(directory: Path, languages: tuple[str, str]) -> tuple[Path, Path]:
    """Find the two sides of a downloaded corpus, whatever their order."""
    from dragoman.corpora.opus.provenance import Provenance

    provenance = Provenance.load(directory)
    return (
        provenance.path_of(languages[0], directory),
        provenance.path_of(languages[1], directory),
    )


def _numbered(rows: Iterator[tuple[str, str]]) -> Iterator[Pair]:
    """Give each row of a data set its number."""
    return (Pair(*row, line) for line, row in enumerate(rows, start=1))


def _read_tsv(path: Path) -> Iterator[Pair]:
    """Read lines of source, tab, target. There is no quoting: quotation marks are text."""
    line = 0
    for line, text in enumerate(read_lines(path), start=1):
        columns = text.split("\t")
        if len(columns) != 2:  # noqa: PLR2004
            if not text:
                raise CorpusError(f"{path}:{line}: an empty line; remove it")
            raise CorpusError(_wrong_columns(f"{path}:{line}", len(columns)))
        yield Pair(columns[0], columns[1], line)
    _refuse_empty(path, line)


def _wrong_columns(place: str, columns: int) -> str:
    """Say what to do with a line that does not have two columns."""
    if columns == 1:
        return f"{place}: 1 column where 2 are expected (source TAB target); add the translation"
    return (
        f"{place}: {columns} columns where 2 are expected (source TAB target); "
        "remove the extra columns or tabs"
    )


def _read_json_lines(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Read one JSON record a line."""
    line = 0
    for line, text in enumerate(read_lines(path), start=1):
        place = f"{path}:{line}"
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{place}: not a JSON record: {error}") from None
        yield Pair(*sides(record, languages, place=place), line)
    _refuse_empty(path, line)


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
    _refuse_empty(source, line)


def _count(lines: Iterator[str]) -> int:
    """Count the lines that are left."""
    return sum(1 for _ in lines)


def _unequal(source: Path, num_sources: int, target: Path, num_targets: int) -> str:
    """Say that two files are not parallel."""
    return (
        f"{source} has {num_sources} lines and {target} has {num_targets}; "
        "each line must be the translation of the line with the same number"
    )


def _refuse_empty(path: Path, num_lines: int) -> None:
    """Refuse a file without lines, which is nearly always a mistake made upstream."""
    if num_lines == 0:
        raise CorpusError(f"{path}: the file is empty")
