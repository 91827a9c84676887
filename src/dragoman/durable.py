"""Files that are on the disk whole, or as they were before."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dragoman.config import DragomanError


def write_atomically(path: Path, text: str) -> None:
    """Write a text file that is on the disk whole, or not at all."""
    with open_whole(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when all of it is written and on the disk.

    What stands there until then stays as it is. A pipe or a device is written straight through,
    and a symbolic link goes on pointing where it points.

    Raises:
        DragomanError: the file cannot be made; the message has the name that was asked for.
    """
    if not is_ordinary(path):
        with path.open("ab") as stream:  # what a device leads to may hold something already
            yield stream
        return
    place = path.resolve()
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.unfinished")
    try:
        stream = unfinished.open("wb")
    except OSError as error:
        raise DragomanError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if place.exists():
            shutil.copymode(place, unfinished)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)


def is_ordinary(path: Path) -> bool:
    """Tell a file, or a name that is free for one, from a pipe, a device and a directory."""
    of_system = path.absolute().parts[1] in ("dev", "proc")
    return not of_system and (path.is_file() or not path.exists())


def remove_unfinished(path: Path) -> None:
    """Delete what processes that were killed have left of a file; none may be at work on it."""
    place = path.resolve()
    for unfinished in place.parent.glob(f".{glob.escape(place.name)}.*.unfinished"):
        unfinished.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Bring a file, or the names in a directory, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
