"""Files that are on the disk whole, or as they were before."""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a text file beside its place, flush it to the disk, and rename it."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def flush(path: Path) -> None:
    """Bring a file, or the names in a directory, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
