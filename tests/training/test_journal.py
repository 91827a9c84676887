"""The journal of a run."""

import os
import time
from pathlib import Path

import pytest

from dragoman.training.journal import Journal, JournalError, read_journal


def test_a_resumed_journal_has_each_event_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.write("update", update=1)
        size = journal.size
        journal.write("update", update=2)

    with Journal(path, size=size) as resumed:
        resumed.write("update", update=2)

    assert [event["update"] for event in read_journal(path)] == [1, 2]


def test_an_event_can_be_read_at_once_and_is_on_the_disk_when_it_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    fsync, on_disk = os.fsync, []

    def remember(descriptor: int) -> None:
        fsync(descriptor)
        on_disk.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", remember)
    with Journal(path) as journal:
        journal.write("update", update=1)
        assert [event["update"] for event in read_journal(path)] == [1]
        assert [journal.size] == on_disk == [path.stat().st_size]


def test_separators_inside_a_text_do_not_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.write("samples", text="one\u2028two\nthree")

    (event,) = read_journal(path)
    assert event["text"] == "one\u2028two\nthree"


def test_events_carry_the_time(tmp_path: Path) -> None:
    before = time.time()
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.write("update", update=1)

    (event,) = read_journal(str(tmp_path / "journal.jsonl"))
    assert before - 0.001 <= event["time"] <= time.time() + 0.001  # rounded to milliseconds


def test_a_line_that_lost_its_end_does_not_run_into_the_next(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"event": "update", "update": 1}\n{"event": "upd')

    with Journal(path, size=100) as resumed:
        resumed.write("update", update=2)

    assert [event["update"] for event in read_journal(path)] == [1, 2]


def test_a_line_that_is_being_written_is_not_read_yet(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"event": "update", "update": 1}\n{"event": "upd')

    assert read_journal(path) == [{"event": "update", "update": 1}]


@pytest.mark.parametrize(
    "line", [b"nonsense", b"3", b"{}", b'{"event": 3}', b"\x00", b"", b'{"event": "\xff"}']
)
def test_a_line_that_is_no_event_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event": "start"}\n' + line + b"\n")

    with pytest.raises(JournalError, match=r"journal\.jsonl:2: not an event"):
        read_journal(path)


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="there is no such journal"):
        read_journal(tmp_path / "journal.jsonl")
