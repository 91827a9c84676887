"""Several processes train as one, and a job that loses one of them loses nothing else."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from dragoman.cli import main
from dragoman.training.journal import read_journal

from .conftest import Hold, HoldAfter, Run, environment, write_workspace

UPDATES, KILLED_AFTER = 12, 7
MODEL = "model.safetensors"
SETTINGS = (
    f"training.updates={UPDATES}",
    "training.validate_every=4",
    "training.schedule=constant",
    "training.precision=fp32",  # what is compared is compared to the last digits
    "search.max_length_ratio=0",  # what has learnt little writes as long as it may
    "search.max_length_extra=9",
    "corpora.test=[]",
)
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # on a busy machine, starts take long
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds no children")

LAUNCH = (sys.executable, "-m", "torch.distributed.run", "--standalone")
SELDOM = ("--monitor-interval=10",)  # seconds
TRAIN = ("-m", "dragoman", "train", "reverse.toml", "-o")
LOSS_OF_A_PROCESS = 180  # seconds, though half a minute is enough where nothing else runs


def start(workspace: Path, *arguments: str, hold: Hold | None = None) -> "subprocess.Popen[str]":
    usual = environment() if hold is None else hold.environment()
    return subprocess.Popen(
        [*LAUNCH, *arguments],
        cwd=workspace,
        env={**usual, "PYTHONWARNINGS": "default"},
        stderr=subprocess.PIPE,
        text=True,
    )


def errors_of(process: "subprocess.Popen[str]", *, timeout: float = 600) -> str:
    """Wait for the end, and return what was said; a job that stands still is ended."""
    try:
        return process.communicate(timeout=timeout)[1]
    except subprocess.TimeoutExpired:
        process.terminate()  # torchrun gives the others half a minute, and kills them then
        pytest.fail(f"not at its end after {timeout} seconds: {process.communicate()[1]}")


def launch(workspace: Path, *arguments: str) -> None:
    with start(workspace, *arguments) as process:
        errors = errors_of(process)
    assert process.returncode == 0, errors


def kill_in_the_middle(agent: "subprocess.Popen[str]", hold: Hold, rank: int) -> None:
    """Kill one of the processes that torchrun has started, once it is well past a checkpoint."""
    while not hold.holds():
        assert agent.poll() is None
        time.sleep(0.02)
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    (worker,) = (
        child
        for child in children
        if f"RANK={rank}" in Path(f"/proc/{child}/environ").read_text().split("\0")
    )
    os.kill(int(worker), signal.SIGKILL)
    hold.end()


def assert_close(one: Path, other: Path) -> None:
    """Compare weights, but for what adds the same to all scores of a query.

    The softmax takes it away again: its gradient is nothing but rounding, which Adam makes large.
    """
    ours, theirs = (load_file(run / MODEL) for run in (one, other))
    assert ours.keys() == theirs.keys()
    for name in [name for name in ours if not name.endswith("key_projection.bias")]:
        tensor = ours[name]
        np.testing.assert_allclose(theirs[name], tensor, atol=2e-4, err_msg=name)


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train undisturbed, in one process and in two."""
    workspace = tmp_path_factory.mktemp("whole")
    write_workspace(workspace)
    with (workspace / "validation.tsv").open("a") as file:  # longer than the table of positions
        file.write(" ".join("ab" * 150) + "\t" + " ".join("ba" * 150) + "\n")
    with contextlib.chdir(workspace):
        assert main(["train", "reverse.toml", "-o", "one", *SHORT]) == 0
    launch(workspace, "--nproc-per-node=2", *TRAIN, "two", *SHORT)
    return workspace


def test_two_processes_share_the_work_of_one(whole_runs: Path) -> None:
    assert_close(whole_runs / "one", whole_runs / "two")


def test_processes_that_hold_parts_make_a_model_that_translates(
    whole_runs: Path, dragoman: Run, workspace: Path
) -> None:
    sharded = (*SHORT, "--set", "training.parallelism=fsdp")

    launch(workspace, "--nproc-per-node=3", *TRAIN, "run", *sharded)

    assert_close(whole_runs / "one", workspace / "run")
    lines = (workspace / "validation.tsv").read_text().splitlines()
    (workspace / "sources.txt").write_text("".join(f"{line.split(chr(9))[0]}\n" for line in lines))
    assert dragoman("translate", "run", "sources.txt").stdout.count("\n") == len(lines) == 100


@needs_proc
def test_a_job_that_lost_a_process_restarts_and_ends_with_the_same_weights(
    whole_runs: Path, workspace: Path, hold_after: HoldAfter
) -> None:
    two, hold = ("--nproc-per-node=2", "--max-restarts=1"), hold_after(KILLED_AFTER)
    with start(workspace, *two, *TRAIN, "run", *SHORT, hold=hold) as agent:
        kill_in_the_middle(agent, hold, rank=1)
        errors = errors_of(agent)

    assert agent.returncode == 0, errors
    assert "going on after update" in errors
    ours, theirs = (load_file(run / MODEL) for run in (workspace / "run", whole_runs / "two"))
    assert all(tensor.tobytes() == theirs[name].tobytes() for name, tensor in ours.items())
    events = read_journal(workspace / "run" / "journal.jsonl")
    assert [e["update"] for e in events if e["event"] == "update"] == list(range(1, UPDATES + 1))


@needs_proc
def test_a_job_that_lost_its_first_process_ends_and_one_process_goes_on(
    whole_runs: Path, dragoman: Run, workspace: Path, hold_after: HoldAfter
) -> None:
    two, hold = (*SELDOM, "--nproc-per-node=2"), hold_after(KILLED_AFTER)
    # torchrun ends the others as soon as it notices; that it looks seldom gives them time to speak
    with start(workspace, *two, *TRAIN, "run", *SHORT, hold=hold) as agent:
        kill_in_the_middle(agent, hold, rank=0)
        errors = errors_of(agent, timeout=LOSS_OF_A_PROCESS)
    dragoman("train", "reverse.toml", "-o", "run", *SHORT)

    assert agent.returncode == 1, errors
    assert "another process of this training has ended" in errors
    assert_close(whole_runs / "one", workspace / "run")
