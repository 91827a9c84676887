"""One command trains several models at the same time and puts them together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from dragoman.model_directory import ModelDirectory

from .conftest import Hold, HoldAfter, Run

SETTINGS = (
    "training.updates=8",
    "training.validate_every=4",
    "training.precision=fp32",
    "search.max_length_ratio=0",  # what has learnt little writes as long as it may
    "search.max_length_extra=9",
)
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))
TRAIN = ("train", "reverse.toml", "-o", "both", "--ensemble", "2", *SHORT)
SEEDS = ("both-seed-1", "both-seed-2")
HELD_AFTER = 5
HELD = f'"update": {HELD_AFTER},'

pytestmark = pytest.mark.slow
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds no children")


def start(workspace: Path, hold: Hold) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-m", "dragoman", *TRAIN],
        cwd=workspace,
        env={**hold.environment(), "OMP_NUM_THREADS": "2"},  # one for each
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not all(HELD in journal(workspace / run) for run in SEEDS):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    return process


def journal(run: Path) -> str:
    path = run / "journal.jsonl"
    return path.read_text() if path.exists() else ""


def weights(run: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_file(run / "model.safetensors").items()}


def process_of(launcher: "subprocess.Popen[str]", run: str) -> int:
    """Find the process that trains a run, among those that another has started."""
    children = Path(f"/proc/{launcher.pid}/task").glob("*/children")
    numbers = " ".join(path.read_text() for path in children).split()
    (found,) = (
        int(number)
        for number in numbers
        if run in Path(f"/proc/{number}/cmdline").read_text().split("\0")
    )
    return found


def test_it_trains_a_model_of_each_seed_and_scores_them_together(
    dragoman: Run, workspace: Path
) -> None:
    said = dragoman(*TRAIN)

    for seed in (1, 2):
        dragoman("train", "reverse.toml", "-o", f"alone-{seed}", "--set", f"seed={seed}", *SHORT)
        assert weights(workspace / f"both-seed-{seed}") == weights(workspace / f"alone-{seed}")
    dragoman("ensemble", "alone-1", "alone-2", "-o", "alone")
    assert weights(workspace / "both") == weights(workspace / "alone")
    assert "evaluate both PAIRS --compare both-seed-1" in said.stdout
    scores = ModelDirectory(workspace / "both").description.training["scores"]["test"]
    together = dragoman("evaluate", "both", "test.tsv", "--engine", "pytorch").stdout
    assert f"{scores['BLEU']['score']:.2f}" in together


@needs_proc
def test_the_others_come_to_their_end_when_one_is_killed(
    dragoman: Run, workspace: Path, hold_after: HoldAfter
) -> None:
    hold = hold_after(HELD_AFTER)
    process = start(workspace, hold)

    os.kill(process_of(process, "both-seed-2"), signal.SIGKILL)
    hold.end()

    _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.splitlines()[-1] == (
        "dragoman: both: not written, as the training of seed 2 did not come to its end; "
        "run the same command again to go on"
    )
    assert (workspace / "both-seed-1" / "finished").exists()
    assert not (workspace / "both").exists()
    dragoman(*TRAIN)
    assert ModelDirectory(workspace / "both").description.ensemble_of == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_all_save_when_they_are_told_to_stop(
    dragoman: Run, workspace: Path, hold_after: HoldAfter, number: signal.Signals
) -> None:
    hold = hold_after(HELD_AFTER)
    process = start(workspace, hold)

    os.killpg(process.pid, number)  # as Ctrl-C does: all processes of the terminal get it
    time.sleep(0.2)  # longer than a second signal would take to be passed on
    hold.end()

    _, errors = process.communicate()
    assert process.returncode == 128 + number, errors
    assert errors.count("stopping and saving") == 1
    for run in (1, 2):
        assert f"seed {run}: stopped after update {HELD_AFTER + 1} and saved" in errors
    dragoman(*TRAIN)
    assert ModelDirectory(workspace / "both").description.ensemble_of == 2


def test_a_second_interrupt_ends_all_at_once(workspace: Path, hold_after: HoldAfter) -> None:
    process = start(workspace, hold_after(HELD_AFTER))

    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.2)  # or both would be one
    os.killpg(process.pid, signal.SIGINT)

    _, errors = process.communicate()  # once nobody holds its standard error
    assert process.returncode == 130, errors
    assert "and saved" not in errors


def test_nothing_is_trained_for_a_place_that_is_taken(dragoman: Run, workspace: Path) -> None:
    (workspace / "both").mkdir()
    (workspace / "both" / "notes.txt").write_text("of mine")

    said = dragoman(*TRAIN, code=1)

    assert "both: it exists already, and is not made of both-seed-1 and both-seed-2" in said.stderr
    assert not (workspace / "both-seed-1").exists()


def test_the_working_directory_becomes_no_ensemble(dragoman: Run) -> None:
    said = dragoman("train", "reverse.toml", "-o", ".", "--ensemble", "2", code=1)

    assert ".: runs are written beside the ensemble; name one inside it" in said.stderr


def test_a_finished_ensemble_is_left_as_it_is(dragoman: Run, workspace: Path) -> None:
    dragoman(*TRAIN, "--set", "corpora.test=[]")
    before = (workspace / "both" / "model.toml").read_bytes()

    said = dragoman(*TRAIN, "--set", "corpora.test=[]")

    assert "both: this ensemble is finished; nothing is left to do" in said.stderr
    assert (workspace / "both" / "model.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--ensemble", "1"), "an ensemble of 1: write a number from 2 to 64"),
        (("--ensemble", "65"), "an ensemble of 65: write a number from 2 to 64"),
        (
            ("--ensemble", "2", "--set", f"seed={2**63 - 1}"),
            f"seed = {2**63 - 1} leaves no seeds above it for an ensemble",
        ),
    ],
)
def test_seeds_that_there_are_not_are_refused(
    dragoman: Run, arguments: tuple[str, ...], complaint: str
) -> None:
    said = dragoman("train", "reverse.toml", "-o", "both", *arguments, code=2)

    assert said.stderr.splitlines()[-1] == f"dragoman: {complaint}"
