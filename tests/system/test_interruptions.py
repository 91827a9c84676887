"""Runs that are killed, stopped or doubled, through the command line."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from dragoman.training.journal import read_journal

from .conftest import environment

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SETTINGS = (
    "training.updates=40",
    "training.validate_every=10",
    "training.search_every=4",
    "training.average_checkpoints=2",
    "model.dropout=0.3",
    "corpora.test=[]",
)
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))
TWO_UPDATES = ("--set", "training.updates=2", "--set", "corpora.test=[]")

pytestmark = pytest.mark.slow


def start(workspace: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "dragoman", *arguments],
        cwd=workspace,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_update(workspace: Path, update: int) -> None:
    journal = workspace / "run" / "journal.jsonl"
    while not (journal.exists() and f'"update": {update},' in journal.read_text()):
        time.sleep(0.02)


def weights(run: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_file(run / "model.safetensors").items()}


@pytest.mark.parametrize(
    ("number", "kind", "sampling"),
    [(signal.SIGKILL, "unigram", 0.3), (signal.SIGTERM, "bpe", 0.1)],
)
def test_a_run_that_was_ended_goes_on_to_the_same_weights(
    dragoman: Run, workspace: Path, number: int, kind: str, sampling: float
) -> None:
    subwords = ("--set", f"tokenizer.kind={kind}", "--set", f"tokenizer.sampling={sampling}")
    command = ("train", "reverse.toml", *SHORT, *subwords)
    dragoman(*command, "-o", "straight")

    for update in (7, 23):
        process = start(workspace, *command, "-o", "run")
        wait_for_update(workspace, update)
        process.send_signal(number)
        _, errors = process.communicate()
        assert process.returncode == (-9 if number == signal.SIGKILL else 143), errors
    dragoman(*command, "-o", "run")

    assert weights(workspace / "run") == weights(workspace / "straight")
    events = read_journal(workspace / "run" / "journal.jsonl")
    assert [e["update"] for e in events if e["event"] == "update"] == list(range(1, 41))


def test_a_second_training_in_one_directory_is_refused(dragoman: Run, workspace: Path) -> None:
    first = start(workspace, "train", "reverse.toml", "-o", "run")
    wait_for_update(workspace, 1)

    second = dragoman("train", "reverse.toml", "-o", "run", code=1)

    first.kill()
    first.communicate()
    assert "another process is training there" in second.stderr


def test_another_recipe_in_one_directory_is_refused(dragoman: Run, workspace: Path) -> None:
    dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES)

    changed = dragoman("train", "reverse.toml", "-o", "run", "--set", "training.updates=3", code=1)

    assert "training.updates: 2 became 3" in changed.stderr


def test_text_that_changed_under_a_run_is_refused(dragoman: Run, workspace: Path) -> None:
    dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES)
    (workspace / "run" / "finished").unlink()
    with (workspace / "train.tsv").open("a") as file:
        file.write("a b c\tc b a\n")

    changed = dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES, code=1)

    assert "run/data/train" in changed.stderr


def test_a_finished_run_says_so(dragoman: Run, workspace: Path) -> None:
    dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES)

    again = dragoman("train", "reverse.toml", "-o", "run", *TWO_UPDATES)

    assert "this run is finished" in again.stderr
