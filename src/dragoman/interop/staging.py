"""Conversions are written beside their place, proved, and only then moved there."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dragoman.durable import (
    checksum,
    contents,
    flush,
    follow_links,
    naming,
    read_at_most,
    require_utf8,
)
from dragoman.errors import DragomanError
from dragoman.interop.export import write_json
from dragoman.model_directory import CHECKSUMS, LARGEST_CONFIG, WEIGHTS_OF_ORIGIN

CONFIG_NAME = "config.json"


class OutputError(DragomanError):
    """A conversion cannot be put where it should go."""


@contextmanager
def staging(
    output: Path, *, weights_name: str | None = None, is_edited: bool = True
) -> Iterator[Path]:
    """Yield an empty directory to write into, which becomes `output` when the block succeeds.

    Its files are flushed to the disk before that, and its new name after it.

    Args:
        output: If it exists, it must be empty or an earlier export of the same format, which is
            replaced; until then, and if anything fails, it stays as it is.
        weights_name: The file that identifies such an export, beside a `config.json` that says
            which weights it was made from and which files it has; without it nothing is replaced.
        is_edited: Whether people edit exports of this format, and their changes must not be lost.
            Otherwise an export with other contents is damaged.

    Raises:
        OutputError: the output holds something else, or cannot be replaced as a whole, or another
            process is writing it.
        DragomanError: its symbolic links form a loop.
        UsageError: its name is not UTF-8.
    """
    output = follow_links(output)
    require_utf8(output)
    if not output.name:
        raise OutputError(f"{output}: it exists already; move it away or name another output")
    unfinished = output.with_name(f".{output.name}.writing")
    earlier = output.with_name(f".{output.name}.earlier")
    new_parents = [folder for folder in unfinished.parents if not folder.exists()]
    try:
        with _only_one(unfinished, output):
            try:
                if earlier.exists() and not output.exists():  # an interruption between two renames
                    earlier.rename(output)
                if output.exists():
                    _check_replaceable(output, weights_name, is_edited=is_edited)
                shutil.rmtree(earlier, ignore_errors=True)
                with naming(output):
                    yield unfinished
                    if weights_name:
                        _write_checksums(unfinished)
                    for path in (*unfinished.rglob("*"), unfinished):
                        flush(path)
                _replace(output, unfinished, earlier)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
    finally:
        with suppress(OSError):  # not empty: it has the output, or what somebody else put there
            for folder in new_parents:
                folder.rmdir()


def _replace(output: Path, unfinished: Path, earlier: Path) -> None:
    """Replace an earlier directory, which stays if that fails."""
    try:
        if output.exists():
            output.rename(earlier)
        unfinished.rename(output)
        flush(output.parent)
    finally:
        if earlier.exists() and not output.exists():
            earlier.rename(output)
        shutil.rmtree(earlier, ignore_errors=True)


@contextmanager
def _only_one(unfinished: Path, output: Path) -> Iterator[None]:
    """Make an empty directory that no other process writes into at the same time.

    Raises:
        OutputError: another process does, or the directory cannot be made.
    """
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise OutputError(f"{output}: cannot be written: {error.strerror}") from error
    try:
        if not _is_locked(descriptor, unfinished):
            raise OutputError(f"{output}: another process is writing it; wait until it is done")
        with naming(output):
            for left in unfinished.iterdir():  # after an interruption
                is_folder = left.is_dir() and not left.is_symlink()
                shutil.rmtree(left) if is_folder else left.unlink()
        yield
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, unfinished: Path) -> bool:
    """Lock an open directory, unless another process has it or has just renamed it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), unfinished.stat(follow_symlinks=False))
    except (BlockingIOError, FileNotFoundError):
        return False


def _write_checksums(export: Path) -> None:
    """Write into an export's `config.json` which other files it has, and their SHA-256."""
    config = json.loads((export / CONFIG_NAME).read_bytes())
    write_json(export / CONFIG_NAME, config | {CHECKSUMS: _checksums(export)})


def _checksums(export: Path) -> dict[str, str]:
    """Compute the SHA-256 of each file except `config.json`.

    Raises:
        OSError: something is not a file, or cannot be read.
    """
    others = sorted(path for path in contents(export) if path.name != CONFIG_NAME)
    return {path.name: checksum(path) for path in others}


def _check_replaceable(output: Path, weights_name: str | None, *, is_edited: bool) -> None:
    """Raise an error if there is something that must not be lost, or cannot be renamed."""
    is_empty = output.is_dir() and not contents(output)
    if not is_empty and not (
        weights_name and _is_earlier_export(output, weights_name, is_edited=is_edited)
    ):
        what = "is not an export, or one that was changed" if weights_name else "exists already"
        raise OutputError(f"{output}: it {what}; move it away or name another output")
    if output == Path.cwd() or output.is_mount():
        raise OutputError(
            f"{output}: this directory cannot be replaced by another, because "
            f"{'it is a mount point' if output.is_mount() else 'you are in it'}; "
            "name one inside it"
        )


def _is_earlier_export(output: Path, weights_name: str, *, is_edited: bool) -> bool:
    """Tell whether nothing is there but what an export has written, settings aside."""
    try:
        config = json.loads(read_at_most(output / CONFIG_NAME, most=LARGEST_CONFIG))
        found = {path.name for path in contents(output)} - {CONFIG_NAME}
        written = config.get(CHECKSUMS, dict.fromkeys(found))  # release 0.1.0 has written none
        return (
            WEIGHTS_OF_ORIGIN in config
            and weights_name in written
            and found <= written.keys()
            and (not is_edited or CHECKSUMS not in config or written == _checksums(output))
        )
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):  # JSON of any shape
        return False
