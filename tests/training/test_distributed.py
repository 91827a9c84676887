"""Processes find each other, also where the addresses of dead ones lie about."""

import os
import socket
import subprocess
import sys
import threading

import pytest
import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from dragoman.errors import DragomanError
from dragoman.training import distributed
from dragoman.training.distributed import (
    PORT_KEY,
    ProcessLostError,
    _is_of_connection,
    _new_store,
    device_of_process,
    process_group,
    rank,
    world_size,
)


def open_store() -> TCPStore:
    return TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> TCPStore:
    """Offer a store as torchrun does, which outlives the processes that it starts."""
    store = open_store()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", str(store.port))
    return store


def test_a_process_that_finds_a_dead_port_looks_again(
    offered: TCPStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        offered.set(PORT_KEY, str(taken.getsockname()[1]))
        fresh = open_store()
        fresh.set("who", "alive")
        timer = threading.Timer(1.0, lambda: offered.set(PORT_KEY, str(fresh.port)))
        timer.start()
        monkeypatch.setenv("RANK", "1")

        found = _new_store()
        timer.join()

    assert found.get("who") == b"alive"


def test_the_first_process_opens_a_new_store_each_time(
    offered: TCPStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "0")
    before = _new_store()
    before.set("of the dead", "1")

    after = _new_store()

    assert not after.check(["of the dead"])
    assert offered.get(PORT_KEY) == str(after.port).encode()


@pytest.mark.usefixtures("offered")
def test_a_first_process_that_does_not_come_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "LONGEST_MEETING", 5.0)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")

    with (
        pytest.raises(ProcessLostError, match=r"cannot be reached.*dragoman/port"),
        process_group(torch.device("cpu")),
    ):
        pytest.fail("there is no other process")


@pytest.mark.parametrize(
    ("said", "is_of_connection"),
    [
        ("[../gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:14743", True),
        ("NCCL error: out of memory", False),
        ("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", False),
    ],
)
def test_only_what_is_about_another_process_is_told_so(said: str, is_of_connection: bool) -> None:
    assert _is_of_connection(RuntimeError(said)) == is_of_connection


def test_only_processes_of_torchrun_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster may set the variables for a process that trains alone."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert (rank(), world_size()) == (0, 1)

    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert (rank(), world_size()) == (1, 2)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make them up."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr(distributed, "choose_device", torch.device)


def start_processes(monkeypatch: pytest.MonkeyPatch, *, local_rank: int, count: int) -> None:
    """Be one of those that torchrun starts on a machine."""
    monkeypatch.setenv("LOCAL_RANK", str(local_rank))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(count))


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_each_process_has_a_gpu_of_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_processes(monkeypatch, local_rank=1, count=2)
    assert device_of_process(name) == torch.device("cuda:1")


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_more_processes_than_gpus_are_told_how_many_fit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_processes(monkeypatch, local_rank=2, count=4)
    with pytest.raises(DragomanError, match=r'process 2 of this .* is 2; .*"--nproc-per-node 2"'):
        device_of_process(name)


@pytest.mark.usefixtures("two_gpus")
def test_processes_do_not_share_a_numbered_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    start_processes(monkeypatch, local_rank=0, count=1)
    assert device_of_process("cuda:1") == torch.device("cuda:1")

    start_processes(monkeypatch, local_rank=0, count=2)
    with pytest.raises(DragomanError, match="'cuda:1': it is for one process of a machine"):
        device_of_process("cuda:1")


PROGRAM = """
import os, sys
from datetime import timedelta
import torch
from dragoman.training import distributed


def say(line):
    os.write(1, f"{line}\\n".encode())  # at once, or the lines of two processes mix

waits = {"impatient": timedelta(seconds=10), "patient": distributed.LONGEST_WAIT}
over, impatient = os.pipe()
for (name, longest), port in zip(waits.items(), sys.argv[1:]):
    for rank in range(2):
        os.environ.update(RANK=str(rank), MASTER_PORT=port)
        if os.fork() == 0:
            distributed.LONGEST_WAIT = longest
            if (name, rank) != ("impatient", 1):
                os.close(impatient)
            try:
                with distributed.process_group(torch.device("cpu")):
                    distributed.barrier()
                    first = distributed.text_of_first("pri mo"[: 6 - rank] + "è" * rank)
                    say(f"{name} {rank} has met the other, who is {first}")
                    if rank == 0:
                        os.read(over, 1)  # until the other impatient one has ended
                    distributed.barrier()
                    say(f"{name} {rank} goes on")
            except distributed.ProcessLostError as error:
                say(f"{name} {rank}: {error}")
            os._exit(0)
os.close(impatient)
for _ in range(4):
    os.wait()
"""


def run_two_processes(program: str, ports: list[str]) -> "subprocess.CompletedProcess[str]":
    together = {
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, "-c", program, *ports],
        env={**os.environ, **together, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_first_process_that_is_slow_is_waited_for_as_long_as_it_is_said() -> None:
    offered = [open_store() for _ in range(2)]
    done = run_two_processes(PROGRAM, [str(store.port) for store in offered])

    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert {"patient 0 goes on", "patient 1 goes on"} <= set(said)
    assert {f"impatient {rank} has met the other, who is pri mo" for rank in range(2)} <= set(said)
    assert "impatient 1 goes on" not in said
    assert "impatient 1: another process of this training has ended or cannot be reached" in (
        done.stdout
    )


LIVES = """
import os, signal, sys
import torch
from dragoman.training import distributed
from dragoman.training.parallelism import spread


def train():
    with distributed.process_group(torch.device("cpu")):
        model = spread(torch.nn.Linear(2, 2), None, "ddp", dtype=torch.float32)
        model(torch.ones(1, 2)).sum().backward()
        distributed.agree(False)
        distributed.barrier()  # and the model is let go of when this returns


sys.setswitchinterval(60)  # seconds: a thread that wants the interpreter waits for a true pause
for rank in range(2):
    os.environ["RANK"] = str(rank)
    if os.fork() == 0:
        signal.alarm(800)  # ends one that stands still
        for port in sys.argv[1:]:
            os.environ["MASTER_PORT"] = port
            train()
        os._exit(0)
sys.exit(bool(os.wait()[1] + os.wait()[1]))
"""


@pytest.mark.timeout(900)
def test_a_model_that_outlives_its_group_does_not_stand_still() -> None:
    offered = [open_store() for _ in range(40)]
    ports = [str(store.port) for store in offered]

    done = run_two_processes(LIVES, ports)

    assert done.returncode == 0, done.stderr
