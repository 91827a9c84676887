"""`journal.jsonl`: what happened in a run, one JSON object per line."""

import json
import os
import time
from pathlib import Path
from typing import Any, Self

from dragoman.errors import DragomanError

JOURNAL = "journal.jsonl"


class JournalError(DragomanError):
    """A journal is missing or damaged."""


class Journal:
    """An append-only file that a resumed run cuts back to its checkpoint.

    A checkpoint stores `size`; what was written later belongs to updates that a resumed run
    repeats, so no event appears twice and none is missing.
    """

    def __init__(self, path: Path, *, size: int = 0) -> None:
        path.touch()
        with path.open("r+b") as file:
            if path.stat().st_size < size:  # it has lost its end, maybe in the middle of a line
                size = file.read().rfind(b"\n") + 1
            file.truncate(size)
        self._file = path.open("a", encoding="utf-8", newline="\n")

    @property
    def size(self) -> int:
        """Bytes written so far, all of which are on the disk."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def write(self, event: str, **values: Any) -> None:
        """Append an event, with the time in seconds since 1970."""
        stamped = {"event": event, "time": round(time.time(), 3), **values}
        self._file.write(json.dumps(stamped, ensure_ascii=False) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


class NoJournal:
    """Stands in for the journal in processes that are not the first."""

    size = 0

    def write(self, event: str, **values: Any) -> None:
        """Write nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def read_journal(path: str | Path) -> list[dict[str, Any]]:
    """Read all events of a run, which may be in progress: an unfinished last line is left out.

    Raises:
        JournalError: there is no journal, or it is damaged.
    """
    try:
        lines = Path(path).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        raise JournalError(
            f"{path}: there is no such journal; name a directory that dragoman train has written"
        ) from None
    return [_read_event(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]


def _read_event(line: bytes, place: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:  # not UTF-8, or not JSON
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise JournalError(f"{place}: not an event of a training run; restore the file from a copy")
    return event
