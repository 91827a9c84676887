"""The journal of a run."""

import time
from pathlib import Path

from dragoman.training.journal import Journal, read_journal


def test_a_resumed_journal_has_each_event_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.write("update", update=1)
        size = journal.size
        journal.write("update", update=2)

    with Journal(path, size=size) as resumed:
        resumed.write("update", update=2)

    assert [event["update"] for event in read_journal(path)] == [1, 2]


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

    (event,) = read_journal(tmp_path / "journal.jsonl")
    assert before - 0.001 <= event["time"] <= time.time() + 0.001  # rounded to milliseconds


def test_a_journal_that_lost_its_end_is_not_filled_up(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.write("update", update=1)
        size = journal.size

    with Journal(path, size=size + 100) as resumed:
        resumed.write("update", update=2)

    assert [event["update"] for event in read_journal(path)] == [1, 2]
