"""Files that are written whole or stay as they were; and their checksums."""

import contextlib
import errno
import glob
import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dragoman.errors import DragomanError, UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LONGEST_NAME = 255
"""Bytes that most systems allow."""

_LONGEST_WITH_ENDING = 220
"""The same for a name that files beside it have with something added."""

_COMPRESSED = (".gz", ".zst", ".xz", ".bz2", ".zip")
"""Endings of compressed files, which nothing here writes."""


def require_utf8(path: Path) -> None:
    """Refuse a name under which the libraries that read weights find nothing.

    Safetensors, CTranslate2 and ONNX Runtime take names in UTF-8 only; Linux takes any bytes.

    Raises:
        UsageError: the name is not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{path}: a model's weights cannot be read there, as this name is not UTF-8; rename "
            "the directory, or name another"
        ) from None


def write_atomically(path: Path, text: str) -> None:
    """Write a text file to the disk whole, or not at all."""
    with open_whole(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name only once all of it is written and on the disk.

    Until then, an existing file of that name stays as it is. A pipe or a device is written to
    directly, and a symbolic link keeps pointing where it points.

    Raises:
        DragomanError: the file cannot be created; the message has the requested name.
        OSError: it cannot be written, for lack of space or because the disk fails; `filename` is
            the requested name.
    """
    if not is_ordinary(path):
        with _open(path, "ab", name=path) as stream:  # a device may hold something already
            yield stream
        return
    place = follow_links(path)
    before = place.lstat() if place.is_file() else None
    unfinished = place.with_name(f".{_short_name(place)}.{os.getpid()}.unfinished")
    try:  # a signal may come as soon as there is a file
        with _create(unfinished, name=path) as stream:
            yield stream
            stream.flush()
            with naming(path):
                if before is not None:
                    _take_over(before, stream.fileno())
                os.fsync(stream.fileno())
        unfinished.replace(place)
    finally:
        with contextlib.suppress(OSError):  # there is none, or another error says more
            unfinished.unlink()


def _create(unfinished: Path, *, name: Path) -> BinaryIO:
    """Create a file; errors have the name of the one that it will become."""
    try:
        unfinished.unlink(missing_ok=True)  # of a killed process; or a link to somebody's file
        return _open(unfinished, "xb", name=name)
    except FileNotFoundError:
        raise DragomanError(f"{name}: cannot be written: there is no such folder") from None
    except OSError as error:
        raise DragomanError(f"{name}: cannot be written: {error.strerror}") from error


def _take_over(before: os.stat_result, unfinished: int) -> None:
    """Give a new file the owner, the group and the mode of the one whose place it takes.

    Only root may give files to others, as a job at night does whose output a service reads. The new
    file is named by its descriptor: whoever owns the folder could put a link in its place.
    """
    for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with contextlib.suppress(OSError):  # also of an owner that a container does not know
            os.fchown(unfinished, owner, group)
    os.fchmod(unfinished, before.st_mode & 0o777)  # at last, as a new owner may take rights away


def check_written(written: Sequence[Path], read: Sequence[Path] = ()) -> None:
    """Make sure that no output overwrites an input or another output, or claims to be compressed.

    Raises:
        UsageError: two names refer to the same file, perhaps through a link; or an output has the
            ending of a compressed file, which none is.
        DragomanError: symbolic links form a loop.
    """
    before = [follow_links(path) for path in read]
    for path in written:
        if path.suffix.lower() in _COMPRESSED:
            raise UsageError(
                f"{path}: it would not be compressed; leave {path.suffix} out, and compress the "
                "file afterwards"
            )
        place = follow_links(path)
        if is_ordinary(path) and place in before:
            use = "read" if place in before[: len(read)] else "written"
            raise UsageError(f"{path}: it is {use} already; name another file to write")
        before.append(place)


def is_ordinary(path: Path) -> bool:
    """Tell whether a path is a file or free for one, not a pipe, a device or a directory.

    `/dev/stdout` may lead to a file, but is none; in `/dev/shm`, which is memory, there are files.
    """
    parts = path.absolute().parts
    of_system = parts[1:2] in [("dev",), ("proc",)] and parts[1:3] != ("dev", "shm")
    return not of_system and (path.is_file() or not path.exists())


def follow_links(path: Path) -> Path:
    """Find the place that a name stands for, whether or not anything is there.

    Raises:
        DragomanError: its symbolic links form a loop.
    """
    place = Path(os.path.realpath(path))  # unlike `resolve`, the same in all versions of Python
    if place.is_symlink():
        raise DragomanError(f"{path}: symbolic links that lead in a circle; remove them")
    return place


def open_file(path: Path) -> io.BufferedReader:
    """Open a file for reading that may come from anyone.

    Raises:
        OSError: it cannot be read, or it is a pipe or a device, which may never end.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a file", str(path))
    return path.open("rb")


def read_at_most(path: Path, *, most: int) -> bytes:
    """Read a file that may come from anyone, if it is not larger than it should be.

    Args:
        path: The file.
        most: How many bytes it may have.

    Raises:
        OSError: it has more, cannot be read, or may never end.
    """
    with open_file(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EINVAL, f"more than {most >> 20} MiB", str(path))
    return content


def contents(directory: Path) -> list[Path]:
    """List what is in a directory, except the file in which macOS keeps how it is shown there."""
    return [path for path in directory.iterdir() if path.name != ".DS_Store"]


def checksum(path: Path) -> str:
    """Compute the SHA-256 of a file.

    Raises:
        OSError: it cannot be read, or it may never end.
    """
    with open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_unfinished(path: Path) -> None:
    """Delete what killed processes left of a file; no process may be writing it meanwhile."""
    place = follow_links(path)
    name = _short_name(place)
    for unfinished in place.parent.glob(f".{glob.escape(name)}.*.unfinished"):
        # Beside `news` there may be `.news.it.4711.unfinished`, of a process that writes `news.it`.
        if re.fullmatch(r"\.[0-9]+\.unfinished", unfinished.name[len(f".{name}") :]):
            unfinished.unlink(missing_ok=True)


def beside(place: Path, ending: str) -> Path:
    """Return the path of a file beside another one that has its name, with an ending."""
    return place.with_name(f"{_short_name(place)}{ending}")


def _short_name(place: Path) -> str:
    """Return the name of a file, or a digest of a name that is too long to be extended.

    One that no file can have stays, so that a file beside it is refused before any work.
    """
    name = os.fsencode(place.name)
    is_too_long = _LONGEST_WITH_ENDING < len(name) <= _LONGEST_NAME
    return hashlib.sha256(name).hexdigest() if is_too_long else place.name


@contextlib.contextmanager
def naming(name: Path | str) -> Iterator[None]:
    """Add a file name to system errors that lack one, as write errors do."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(name)
        raise


def flush(path: Path) -> None:
    """Flush a file, or the names in a directory, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path, mode: str, *, name: Path) -> BinaryIO:
    """Open a file for writing whose errors have the name that users know."""
    return io.BufferedWriter(_NamedFile(path, mode, asked_for=name))


class _NamedFile(io.FileIO):
    """A file that is written under a name other than the requested one."""

    def __init__(self, path: Path, mode: str, *, asked_for: Path) -> None:
        super().__init__(path, mode)
        self.asked_for = asked_for

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write bytes; an error has the requested name."""
        with naming(self.asked_for):
            return super().write(data)
