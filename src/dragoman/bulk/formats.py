"""Which format files have."""

from pathlib import Path

from dragoman.bulk.file_format import FileFormat
from dragoman.bulk.form import Form
from dragoman.bulk.json_lines import JsonLines
from dragoman.bulk.parquet import ParquetTable
from dragoman.bulk.plain_text import PlainText
from dragoman.config import RecipeError

JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"


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
        RecipeError: the files and the options do not go together.
    """
    if field is None:
        if records := [path for path in paths if path.suffix in (*JSON_LINES, PARQUET)]:
            raise RecipeError(
                f"{records[0]}: it has records, not lines of text; --field NAME says which field "
                "is translated"
            )
        return PlainText(paths, form)
    if form != "text":
        raise RecipeError(
            "records have one translation each: leave out --json, --scores and --n-best, or --field"
        )
    if not any(path.suffix == PARQUET for path in paths):
        return JsonLines(paths, field, into)
    if len(paths) > 1:
        raise RecipeError("a Parquet file is translated alone; give one file")
    return ParquetTable(paths[0], field, into)
