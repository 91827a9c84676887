"""A file is written whole, or stays as it was; a pipe and a link stay what they are."""

import errno
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from dragoman.durable import beside, check_written, open_whole, remove_unfinished, write_atomically
from dragoman.errors import DragomanError


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

    with pytest.raises(OSError, match="No space left") as error:
        write_atomically(path, "after\n")

    assert error.value.filename == str(path)
    assert path.read_text() == "before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_complete_does_not_appear(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("earlier")

    def interrupted() -> None:
        with open_whole(path) as stream:
            stream.write(b"half a line")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_files_that_are_written_the_one_that_cannot_be_is_named(tmp_path: Path) -> None:
    full, other = Path("/dev/full"), tmp_path / "other.txt"

    with (
        pytest.raises(OSError, match="No space left") as error,
        open_whole(full) as stream,
        open_whole(other),
    ):
        stream.write(bytes(2**20))

    assert error.value.filename == "/dev/full"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner_and_its_readers(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before")
    os.chown(path, 1234, 2345)
    path.chmod(0o640)

    write_atomically(path, "after")

    now = path.stat()
    assert path.read_text() == "after"
    assert (now.st_uid, now.st_gid, now.st_mode & 0o777) == (1234, 2345, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_link_in_the_place_of_the_unfinished_file_gives_nothing_away(tmp_path: Path) -> None:
    path, secret = tmp_path / "out.txt", tmp_path / "secret"
    path.write_text("before")
    os.chown(path, 1234, 2345)
    secret.write_text("secret")
    secret.chmod(0o600)

    unfinished = tmp_path / f".out.txt.{os.getpid()}.unfinished"
    unfinished.symlink_to(secret)

    with open_whole(path) as stream:
        stream.write(b"after")
        unfinished.unlink()
        unfinished.symlink_to(secret)

    now = secret.stat()
    assert (now.st_uid, now.st_mode & 0o777, secret.read_text()) == (0, 0o600, "secret")


def test_a_link_goes_on_pointing_to_its_file_which_keeps_its_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "file.txt", tmp_path / "link.txt"
    file.write_text("earlier")
    file.chmod(0o640)
    link.symlink_to(file.name)

    with open_whole(link) as stream:
        stream.write(b"later")

    assert link.is_symlink()
    assert file.read_text() == "later"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()

    with open_whole(pipe) as stream:
        stream.write(b"through")

    reader.join(timeout=10)
    assert received == [b"through"]
    assert pipe.is_fifo()


def test_a_folder_that_is_not_there_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out.txt"

    with pytest.raises(DragomanError) as error, open_whole(path):
        pass

    assert str(error.value) == f"{path}: cannot be written: there is no such folder"


def test_what_a_device_leads_to_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text("earlier\n")
    program = (
        "from pathlib import Path\n"
        "from dragoman.durable import open_whole\n"
        "with open_whole(Path('/dev/stdout')) as stream:\n"
        "    stream.write(b'later\\n')"
    )

    with path.open("a") as output:
        subprocess.run([sys.executable, "-c", program], stdout=output, check=True)

    assert path.read_text().startswith("earlier\n")


def test_a_device_may_be_read_and_written_at_once() -> None:
    check_written([Path(os.devnull), Path(os.devnull)], read=[Path(os.devnull)])


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no memory to keep files in")
def test_a_file_in_shared_memory_is_replaced_like_any_other() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        path = Path(directory, "model.toml")

        write_atomically(path, "before")
        write_atomically(path, "after")

        assert path.read_text() == "after"


def test_beside_a_name_that_no_file_can_have_nothing_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        beside(tmp_path / ("x" * 256), ".part").mkdir()


@pytest.mark.parametrize("name", ["x" * 255, "\u0436" * 127, "news[1].it"])
def test_a_file_may_have_any_name_and_what_is_left_of_it_is_found(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name

    with open_whole(path) as file:
        file.write(b"whole")
        (unfinished,) = tmp_path.glob(".*.unfinished")
        left = unfinished.with_name(unfinished.name.replace(f".{os.getpid()}.", ".4711."))
        left.touch()
    remove_unfinished(path)

    assert [found.name for found in tmp_path.iterdir()] == [name]
    assert path.read_bytes() == b"whole"


def test_what_is_left_of_a_file_has_its_name_and_not_one_that_goes_on(tmp_path: Path) -> None:
    with open_whole(tmp_path / "news.it") as file:
        file.write(b"whole")
        (tmp_path / ".news.4711.unfinished").touch()
        remove_unfinished(tmp_path / "news")

    assert [found.name for found in tmp_path.iterdir()] == ["news.it"]
