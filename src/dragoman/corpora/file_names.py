"""What the name of a file says of its content."""

from pathlib import Path

JSON_LINES = (".jsonl", ".ndjson")

OTHER_FORMATS = (
    *(".csv", ".xls", ".xlsx", ".ods", ".tmx", ".xlf", ".xliff", ".sdlxliff", ".mqxliff"),
    *(".po", ".srt", ".vtt", ".xml", ".json", ".parquet"),
    *(".doc", ".docx", ".odt", ".rtf", ".pdf"),
)
"""Endings of files that people have texts in, and that would only be misread line by line."""

OTHER_COMPRESSIONS = (".xz", ".bz2", ".zip", ".7z", ".rar", ".tar", ".tgz")


def ending(path: Path) -> str:
    """Give the last ending of a name in small letters, that of the compression set aside.

    >>> ending(Path("memory.TMX.gz")), ending(Path("news.en")), ending(Path("text"))
    ('.tmx', '.en', '')
    """
    return Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix
