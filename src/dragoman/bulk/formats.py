"""Which format given files have."""

import os
from pathlib import Path
from shlex import quote

from dragoman.bulk.document_file import DocumentFile
from dragoman.bulk.file_format import FileFormat
from dragoman.bulk.form import Form
from dragoman.bulk.json_lines import JsonLines
from dragoman.bulk.parquet import ParquetTable
from dragoman.bulk.plain_text import PlainText
from dragoman.corpora.file_names import JSON_LINES, OTHER_FORMATS, ending
from dragoman.documents.formats import DOCUMENT_FORMATS
from dragoman.documents.other_formats import PROGRAMS, SAVED_AS, other_way
from dragoman.durable import follow_links
from dragoman.errors import DragomanError, UsageError
from dragoman.markup.text_reader import TextReader

PARQUET = ".parquet"
PAIRS = ".tsv"
JSON = ".json"


def choose_format(
    paths: tuple[Path, ...],
    reader: TextReader,
    *,
    form: Form,
    field: str | None = None,
    into: str = "",
) -> FileFormat:
    """Find out the format of files.

    Args:
        paths: The files.
        reader: Takes apart what is in a document.
        form: What is written for a line of text.
        field: What holds the text in a record; None for plain text.
        into: What will hold the translation in a record.

    Raises:
        UsageError: the files and the options do not go together.
    """
    if field is None and _is_document(paths):
        if form != "text":
            raise UsageError(
                f"{paths[0]}: a document has one translation: leave out --json and --scores, and "
                "give --n-best 1"
            )
        return DocumentFile(paths[0], reader)
    if field is None:
        return PlainText(paths, form)
    if form != "text":
        raise UsageError(
            "records have one translation each: leave out --json and --scores, and give "
            "--n-best 1, or leave out --field"
        )
    if not any(path.suffix.lower() == PARQUET for path in paths):
        return JsonLines(paths, field, into)
    if len(paths) > 1:
        raise UsageError("a Parquet file has to be the only input; give one file")
    return ParquetTable(paths[0], field, into)


def _is_document(paths: tuple[Path, ...]) -> bool:
    return len(paths) == 1 and paths[0].suffix.lower() in DOCUMENT_FORMATS


def check_names(paths: tuple[Path, ...], output: Path | None, *, are_aligned: bool) -> None:
    """Refuse files whose names say that they hold neither lines of text nor a document.

    Args:
        paths: The files.
        output: What is written, if it is a file.
        are_aligned: Whether lines and their translations are to be aligned.

    Raises:
        UsageError: there is one, or a document that is not alone or is to be aligned, or the output
            would not be what its name says.
        DragomanError: a name is no file's, and looks like a sentence; or its links form a loop.
        OSError: there is no such file, or it cannot be reached.
    """
    if not _is_document(paths):
        _check_text(paths)
    elif are_aligned:
        raise UsageError(f"{paths[0]}: a document has no lines; leave out --alignments")
    if output is not None:
        _check_output(paths, output)


def _check_text(paths: tuple[Path, ...]) -> None:
    """Refuse what is not there, or is not lines of text."""
    for path in paths:
        if refusal := _refuse(path):
            raise UsageError(f"{path}: {refusal}")
        if " " in str(path) and not os.path.exists(path):  # noqa: PTH110 - whatever its length
            raise DragomanError(
                f"{path}: there is no such file; a sentence is read from standard input, as in "
                'echo "A cat." | dragoman translate MODEL'
            )
        follow_links(path)
        path.stat()  # so that one that is missing is told before others are translated


def _check_output(paths: tuple[Path, ...], output: Path) -> None:
    """Refuse an output that programs would open as what it is not."""
    named = output.suffix.lower()
    theirs = DOCUMENT_FORMATS.get(named)
    if not _is_document(paths):
        if named in SAVED_AS or (theirs and theirs.has_text):
            raise UsageError(
                f"{output}: lines of text are written, and {named} files have none; let the name "
                "end in .txt"
            )
        return
    source = paths[0].suffix.lower()
    ours = DOCUMENT_FORMATS[source]
    if theirs:
        is_right = theirs == ours or (theirs.take_apart is ours.take_apart and not ours.has_text)
    else:
        is_right = named not in OTHER_FORMATS or (named == ".xml" and not ours.has_text)
    if not is_right:
        raise UsageError(
            f"{output}: the translation of a {source} file is one, too; let the name end in "
            f"{source}, and save it as {named} from the program that opens it"
        )


def check_names_of_records(paths: tuple[Path, ...], output: Path | None) -> None:
    """Refuse documents, and an output that programs would open as what it is not.

    Args:
        paths: The files of records.
        output: What is written, if it is a file.

    Raises:
        UsageError: a name is that of another format.
    """
    for path in paths:
        if path.suffix.lower() in DOCUMENT_FORMATS.keys() - {JSON}:  # which may have JSON lines
            raise UsageError(f"{path}: a document has no fields; leave out --field")
    if output is None:
        return
    is_parquet = any(path.suffix.lower() == PARQUET for path in paths)
    endings = (PARQUET,) if is_parquet else (*JSON_LINES, JSON)
    if output.suffix.lower() in {*JSON_LINES, *OTHER_FORMATS}.difference(endings):
        raise UsageError(
            f"{output}: records are written in the format in which they are read; let the name end "
            f"in {endings[0]}"
        )


def _refuse(path: Path) -> str | None:
    """Say what to do with a file that is not lines of text, by its name."""
    if ending(path) in (*JSON_LINES, PARQUET):
        return (
            "it has records, not lines of text; name the field to translate with --field NAME, "
            "and an output file with -o"
        )
    if ending(path) == PAIRS:
        return (
            "it has columns, and each would be translated; give one of them, as "
            f"cut -f1 {quote(str(path))} does"
        )
    if path.suffix.lower() in DOCUMENT_FORMATS:
        return "it is translated as a whole, and has to be the only file; give one after the other"
    if ending(path) in DOCUMENT_FORMATS:
        return "a document is not translated while compressed; unpack it first"
    way = other_way(ending(path))
    if way or ending(path) in (*OTHER_FORMATS, *PROGRAMS):
        way = way or "save the text in it line by line, or as JSON lines (.jsonl)"
        by_input = "; lines of text are read from standard input, whatever their name"
        return f"{ending(path)} files are not translated; {way}{by_input}"
    return None
