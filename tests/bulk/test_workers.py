"""Processes that share a file: real ones, and killed."""

import os
import signal
import struct
import time
import weakref
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

from dragoman.bulk import workers
from dragoman.bulk.attempts import MOST
from dragoman.bulk.block_translator import Done
from dragoman.bulk.file_format import Block, BulkError
from dragoman.bulk.files import rejections_path
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import KeptParts
from dragoman.bulk.unchanged import Unchanged
from dragoman.bulk.workers import _feed, _Worker, with_workers

from .conftest import LINES, POISON, Start, blocks_in, held_after, result_of
from .test_files import expected

STARTING = """
import sys, time
from pathlib import Path

if "--multiprocessing-fork" in sys.orig_argv:
    Path(__file__).with_name("starting").touch()
    while not Path(__file__).with_name("go-on").exists():
        time.sleep(0.01)
"""
"""Has each worker stand still before it has imported anything, until there is a file `go-on`."""

POISONED = [*LINES[:19], "w1 poison w2", *LINES[20:]]

BLOCK = Block(number=0, file=0, start=0, size=9, first_line=0, first_line_of_file=0, num_lines=8)


def workers_of(process: int) -> list[int]:
    """List the processes that translate; the first child of multiprocessing only tidies up."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(job: Job, start: Start) -> None:
    kept = job.output.with_name("out.txt.part")
    process = start("workers", injected=held_after(1))
    while len(blocks_in(kept)) < 2 and process.poll() is None:
        time.sleep(0.001)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    job.output.with_name("injected").joinpath("go-on").touch()

    rejected, _ = result_of(process)

    assert rejected == 0
    assert job.output.read_text() == expected(job)


class _Dead:
    """A process that somebody has killed."""

    exitcode = -signal.SIGKILL

    def is_alive(self) -> bool:
        return False

    def kill(self) -> None:
        """Do not kill it again."""

    def join(self) -> None:
        """Do not wait for it."""


def test_a_worker_that_is_killed_within_its_answer_is_replaced() -> None:
    answers = [b"only half of what was", ForkingPickler.dumps(Done(8, [], "an engine")).tobytes()]
    started = []

    def start() -> _Worker:
        ours, theirs = Pipe()
        started.append(theirs)
        answer = answers[len(started) - 1]
        announced = struct.pack("!i", len(answers[1]))
        os.write(theirs.fileno(), announced + answer)
        if answer is answers[0]:
            theirs.close()
        return _Worker(_Dead(), ours)  # type: ignore[arg-type]

    (done,) = _feed(start, 1, [BLOCK])

    assert done.num_lines == 8
    assert len(started) == 2


def test_what_died_keeps_no_file_open(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    num_dead = 5
    channels: list[weakref.ref[Connection]] = []

    def start(*arguments: Any) -> _Worker:
        ours, theirs = Pipe()
        if len(channels) == num_dead:
            theirs.send(Done(8, [], "an engine"))
        theirs.close()
        channels.append(weakref.ref(ours))
        return _Worker(_Dead(), ours)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "_start", start)
    parts = KeptParts(job.output, {}, Unchanged([]))
    answers = with_workers(1)(job, parts, [BLOCK])

    done = next(answers)

    assert done.num_lines == 8
    assert [channel() is None for channel in channels] == [True] * num_dead + [False]


def test_workers_end_with_the_command(job: Job, start: Start) -> None:
    kept = job.output.with_name("out.txt.part")
    process = start("workers", injected=held_after(1))
    while not blocks_in(kept) and process.poll() is None:
        time.sleep(0.001)
    started = workers_of(process.pid)
    process.kill()
    process.communicate()

    while any(map(is_running, started)):  # the time limit of the test is its assertion
        time.sleep(0.01)

    assert started
    result_of(start("workers"))
    assert job.output.read_text() == expected(job)


def test_ctrl_c_is_for_the_parent_even_while_workers_start(job: Job, start: Start) -> None:
    injected = job.output.with_name("injected")
    process = start("workers", injected=STARTING)
    while not (injected / "starting").exists() and process.poll() is None:
        time.sleep(0.001)

    for worker in workers_of(process.pid):
        os.kill(worker, signal.SIGINT)
    (injected / "go-on").touch()

    result_of(process)
    assert job.output.read_text() == expected(job)


def test_a_line_that_kills_its_process_is_set_aside(job: Job, text: Path, start: Start) -> None:
    text.write_text("\n".join(POISONED))

    rejected, _ = result_of(start("workers", injected=POISON))

    assert rejected == 1
    lines = job.output.read_text().split("\n")
    assert lines == [*(translated := expected(job).split("\n"))[:19], "", *translated[20:]]
    reason = "the process that translated it died: 2 times among other lines, then alone"
    assert f'"line": 20, "text": "w1 poison w2", "reason": "{reason}"' in (
        rejections_path(job.output).read_text()
    )


def test_an_error_in_a_worker_ends_the_command_with_its_sentence(
    job: Job, text: Path, start: Start
) -> None:
    copy = job.translator.model / "ctranslate2"
    process = start("workers")
    copy.rename(copy.with_name("moved"))
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        copy.with_name("moved").rename(copy)

    assert process.returncode != 0
    assert "it has no copy for CTranslate2" in errors
    assert [path.name for path in text.parent.iterdir() if "out" in path.name] == []


@pytest.mark.parametrize(("code", "num_deaths"), [(1, 1), (-signal.SIGKILL, MOST + 1)])
def test_processes_that_cannot_even_begin_are_not_started_for_ever(
    code: int, num_deaths: int
) -> None:
    started: list[_Dead] = []

    def start() -> _Worker:
        assert len(started) <= MOST
        ours, theirs = Pipe()
        theirs.close()
        process = _Dead()
        process.exitcode = code
        started.append(process)
        return _Worker(process, ours)  # type: ignore[arg-type]

    with pytest.raises(BulkError, match=f"a worker process ended with exit code {code} before"):
        list(_feed(start, 1, [BLOCK]))

    assert len(started) == num_deaths


@pytest.mark.parametrize(("count", "threads"), [(1, 5), (2, 2), (8, 1)])
def test_the_processes_share_the_processors(
    job: Job, count: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int | None] = []

    def start(job: Job, *_: object) -> _Worker:
        given.append(job.translator.threads)
        ours, theirs = Pipe()
        theirs.send(Done(8, [], "an engine"))
        return _Worker(_Dead(), ours)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "_start", start)
    monkeypatch.setattr(workers, "num_cpus", lambda: 5)

    list(with_workers(count)(job, KeptParts(job.output, {}, Unchanged([])), [BLOCK]))

    assert given == [threads]
