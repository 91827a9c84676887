"""Runs that are killed, stopped or doubled, through the command line."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from dragoman.training.journal import read_journal

from .conftest import Hold, HoldAfter, Run, environment

UPDATES = 16
SETTINGS = (
    "batching.tokens_per_update=256",
    "training.precision=fp32",  # as in this process, also where a CPU has fast bf16
    f"training.updates={UPDATES}",
    "training.validate_every=4",
    "training.search_every=4",
    "training.average_checkpoints=2",
    "model.dropout=0.3",
    "corpora.test=[]",
)
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))
BRIEF = ("--set", "search.max_length_ratio=0", "--set", "search.max_length_extra=9")
"""Long enough for these sentences; what has learnt little writes as long as it may."""
SUBWORDS = ("--set", "tokenizer.kind=unigram", "--set", "tokenizer.sampling=0.3")
"""Each time that a sentence is seen it is cut in another way, which must be the same one again."""

TRAIN = (sys.executable, "-m", "dragoman", "train", "reverse.toml", "-o", "run")
TWO_UPDATES = (*BRIEF, "--set", "training.updates=2", "--set", "corpora.test=[]")

pytestmark = pytest.mark.slow


def start(workspace: Path, *arguments: str, hold: Hold | None = None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "dragoman", *arguments],
        cwd=workspace,
        env=environment() if hold is None else hold.environment(),
        stderr=subprocess.PIPE,
        text=True,
        # `nohup` has the tests ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )


def wait_for(process: "subprocess.Popen[str]", reached: Callable[[], bool]) -> None:
    while not reached():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def wait_for_update(process: "subprocess.Popen[str]", workspace: Path, update: int) -> None:
    wait_for(process, lambda: f'"update": {update},' in journal_of(workspace))


def weights(run: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_file(run / "model.safetensors").items()}


def test_a_run_that_was_ended_goes_on_to_the_same_weights(
    dragoman: Run, workspace: Path, hold_after: HoldAfter
) -> None:
    command = ("train", "reverse.toml", *SHORT, *BRIEF, *SUBWORDS)
    dragoman(*command, "-o", "straight")

    saved = []
    for update, number, expected in (
        (2, signal.SIGKILL, -9),  # before anything is saved
        (5, signal.SIGTERM, 143),  # which saves
        (11, signal.SIGKILL, -9),  # past what a validation has saved
    ):
        hold = hold_after(update)
        process = start(workspace, *command, "-o", "run", hold=hold)
        wait_for(process, hold.holds)
        process.send_signal(number)
        hold.end()
        code, errors = end_of(process)
        assert code == expected, errors
        checkpoints = (workspace / "run" / "checkpoints").glob("update-*[0-9]")
        saved.append(max((int(path.name[-8:]) for path in checkpoints), default=0))
    dragoman(*command, "-o", "run")

    assert weights(workspace / "run") == weights(workspace / "straight")
    events = read_journal(workspace / "run" / "journal.jsonl")
    assert [e["update"] for e in events if e["event"] == "update"] == list(range(1, UPDATES + 1))
    assert [e["update"] for e in events if e["event"] == "resume"] == [6, 8]
    assert saved == [0, 6, 8]


def journal_of(workspace: Path) -> str:
    path = workspace / "run" / "journal.jsonl"
    return path.read_text() if path.exists() else ""


def end_of(process: "subprocess.Popen[str]") -> tuple[int, str]:
    _, errors = process.communicate()
    return process.returncode, errors


def test_a_validation_is_left_when_a_run_is_told_to_stop(workspace: Path) -> None:
    lines = (workspace / "train.tsv").read_text().splitlines()
    (workspace / "validation.tsv").write_text("".join(f"unseen {line}\n" for line in lines))
    often = ("--set", "training.validate_every=1", "--set", "training.search_every=1")
    process = start(workspace, "train", "reverse.toml", "-o", "run", *SHORT, *often)
    wait_for_update(process, workspace, 1)

    process.send_signal(signal.SIGTERM)
    code, errors = end_of(process)

    assert code == 143, errors
    assert "stopped after update 1 and saved" in errors
    assert '"validation"' not in journal_of(workspace)


@pytest.mark.parametrize("hangs_up", [True, False])
def test_a_training_outlives_its_terminal(
    workspace: Path, hold_after: HoldAfter, hangs_up: bool
) -> None:
    def begin() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` has the tests ignore it
        if hangs_up:  # without a terminal of its own, as with `setsid`, it is not told of the end
            fcntl.ioctl(inside, termios.TIOCSCTTY, 0)

    hold = hold_after(7)
    outside, inside = os.openpty()
    process = subprocess.Popen(
        [*TRAIN, *SHORT, *BRIEF, "--set", "training.updates=9"],
        cwd=workspace,
        env={**hold.environment(), "TERM": "xterm"},
        stderr=inside,
        start_new_session=True,
        preexec_fn=begin,  # noqa: PLW1509
    )
    os.close(inside)
    while not hold.holds():  # and its bar is drawn again and again
        os.read(outside, 4096)

    os.close(outside)
    hold.end()

    assert process.wait() == (129 if hangs_up else 0)
    assert (workspace / "run" / "finished").exists() == (not hangs_up)
    assert list((workspace / "run" / "checkpoints").glob("update-*"))


def test_text_that_was_half_prepared_is_prepared_again(dragoman: Run, workspace: Path) -> None:
    unfinished = workspace / "run" / "data" / "train.tsv"
    text = workspace / "train.tsv"
    few = text.read_text()
    text.write_text(few * 100)  # so that it is not prepared before it is looked at
    process = start(workspace, "train", "reverse.toml", "-o", "run", *TWO_UPDATES)
    wait_for(process, unfinished.exists)
    process.send_signal(signal.SIGTERM)
    code, errors = end_of(process)
    assert code == -signal.SIGTERM, errors
    assert not (workspace / "run" / "data" / "summary.json").exists()
    text.write_text(few)

    again = dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES)

    assert "6,000 pairs read, 6,000 kept" in again.stderr
    assert not unfinished.exists()
    assert (workspace / "run" / "finished").exists()


@pytest.mark.parametrize("times", [1, 2])
def test_the_second_interrupt_does_not_wait_for_the_update(
    workspace: Path, hold_after: HoldAfter, times: int
) -> None:
    hold = hold_after(0)
    process = start(workspace, "train", "reverse.toml", "-o", "run", *SHORT, hold=hold)
    wait_for(process, hold.holds)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    answers = iter(process.stderr.readline, "")
    assert any("stopping and saving; Ctrl-C once more" in line for line in answers)

    if times == 2:
        process.send_signal(signal.SIGINT)
        process.wait()  # while it is held
    hold.end()

    code, errors = end_of(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    saved = times == 1
    assert ("stopped after update 1 and saved" in errors) == saved
    assert ('"update": 1,' in journal_of(workspace)) == saved
    checkpoints = workspace / "run" / "checkpoints"
    assert len(list(checkpoints.glob("update-*"))) == saved


def test_a_second_training_in_one_directory_is_refused(
    dragoman: Run, workspace: Path, hold_after: HoldAfter
) -> None:
    hold = hold_after(1)
    first = start(workspace, "train", "reverse.toml", "-o", "run", hold=hold)
    wait_for(first, hold.holds)

    second = dragoman("train", "reverse.toml", "-o", "run", code=1)

    lives = first.poll() is None
    first.kill()
    first.communicate()
    assert f"another process ({first.pid}) is training there" in second.stderr
    assert lives


def test_a_finished_run_refuses_another_recipe_and_other_text(
    dragoman: Run, workspace: Path
) -> None:
    command = ("train", "reverse.toml", "-o", "run", *TWO_UPDATES)
    dragoman(*command)

    again = dragoman(*command)
    other_recipe = dragoman(*command, "--set", "training.updates=3", code=1)
    (workspace / "run" / "finished").unlink()
    with (workspace / "train.tsv").open("a") as file:
        file.write("a b c\tc b a\n")
    other_text = dragoman(*command, code=1)

    assert "this run is finished" in again.stderr
    assert "training.updates: 2 became 3" in other_recipe.stderr
    assert "run/data/train" in other_text.stderr
