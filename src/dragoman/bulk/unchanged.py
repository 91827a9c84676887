"""Whether the input of a job stays as it is while it is translated."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.bulk.file_format import BulkError


class Unchanged:
    """Checks files from the start of a job to its end, in all of its processes."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._signs = {path: _signs_of_change(path) for path in paths}

    def check(self) -> None:
        """Make sure that they have not changed.

        Raises:
            BulkError: a file has changed.
        """
        for path, before in self._signs.items():
            if not path.exists() or _signs_of_change(path) != before:
                raise BulkError(
                    f"{path}: it changed while it was translated; "
                    "restore it and run the command again once it no longer changes"
                )


def _signs_of_change(path: Path) -> tuple[int, int]:
    """Return what shows that a file has changed, its size and time, without reading it."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns
