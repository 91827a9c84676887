"""A text file is written whole, or stays as it was."""

import errno
from pathlib import Path

import pytest

from dragoman.durable import write_atomically


def full_disk(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_replaced_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"

    write_atomically(path, "before\n")
    write_atomically(path, "perché\n")

    assert path.read_bytes() == "perché\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_earlier_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.json"
    write_atomically(path, "before\n")
    monkeypatch.setattr("os.fsync", full_disk)

    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "after\n")

    assert path.read_text() == "before\n"
