"""Which format given files have."""

import os
from pathlib import Path
from shlex import quote

from dragoman.bulk.file_format import FileFormat
from dragoman.bulk.form import Form
from dragoman.bulk.json_lines import JsonLines
from dragoman.bulk.parquet import ParquetTable
from dragoman.bulk.plain_text import PlainText
from dragoman.corpora.file_names import JSON_LINES, OTHER_FORMATS, PAGES, ending
from dragoman.errors import DragomanError, UsageError

PARQUET = ".parquet"
PAIRS = ".tsv"


def choose_format(
    paths: tuple[Path, ...], *, form: Form, field: str | None, into: str
) -> FileFormat:
    """Find out the format of files.

    Args:
        paths: The files.
        form: What is written for a line of text.
        field: What holds the text in a record; None for plain text.
        into: What will hold the translation in a record.

    Raises:
        UsageError: the files and the options do not go together.
    """
    if field is None:
        check_lines(paths)
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


def check_lines(paths: tuple[Path, ...]) -> None:
    """Refuse files whose names say that they hold something other than lines of text.

    Raises:
        UsageError: there is one.
        DragomanError: a name is no file's, and looks like a sentence.
    """
    for path in paths:
        if ending(path) in (*JSON_LINES, PARQUET):
            raise UsageError(
                f"{path}: it has records, not lines of text; name the field to translate with "
                "--field NAME, and an output file with -o"
            )
        if ending(path) == PAIRS:
            raise UsageError(
                f"{path}: it has columns, and each would be translated; give one of them, as "
                f"cut -f1 {quote(str(path))} does"
            )
        if ending(path) in PAGES:
            raise UsageError(
                f"{path}: line by line, a page would be damaged; dragoman serve translates whole "
                "pages, on its own page and for programs (format=html)"
            )
        if ending(path) in OTHER_FORMATS:
            raise UsageError(
                f"{path}: {ending(path)} files are not translated; save the text in it "
                "line by line, or as JSON lines (.jsonl)"
            )
        if " " in str(path) and not os.path.exists(path):  # noqa: PTH110 - whatever its length
            raise DragomanError(
                f"{path}: there is no such file; a sentence is read from standard input, as in "
                'echo "A cat." | dragoman translate MODEL'
            )
