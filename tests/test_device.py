"""A device is named as people know it."""

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from dragoman.device import (
    choose_device,
    compute_in_one_thread,
    device_name,
    has_fast_bf16,
    keep_to_share_of_time,
    num_cpus,
)
from dragoman.errors import DragomanError


def test_the_cpu_is_named_with_its_processors() -> None:
    processor, _, processors = device_name(torch.device("cpu")).rpartition(", ")

    assert processor
    assert processors == f"{num_cpus()} processors"


@pytest.mark.parametrize(
    ("share", "given", "expected"),
    [(2.5, None, "3"), (2.5, "5", "5"), (8.0, None, None), (math.inf, None, None)],
)
def test_pytorch_gets_as_many_threads_as_there_is_time_for(
    share: float, given: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))
    monkeypatch.setattr("dragoman.device.share_of_time", lambda: share)
    monkeypatch.setattr("os.environ", {} if given is None else {"OMP_NUM_THREADS": given})

    keep_to_share_of_time()

    assert os.environ.get("OMP_NUM_THREADS") == expected


def test_another_device_has_its_name_in_pytorch() -> None:
    assert device_name(torch.device("meta")) == "meta"


def test_a_device_that_holds_no_numbers_is_none_to_compute_on() -> None:
    with pytest.raises(DragomanError, match="'meta': PyTorch finds no such device here"):
        choose_device("meta")


@pytest.fixture
def usual_attention() -> Iterator[None]:
    torch.backends.cuda.enable_cudnn_sdp(True)
    yield
    torch.backends.cuda.enable_cudnn_sdp(True)


@pytest.mark.usefixtures("usual_attention")
@pytest.mark.parametrize("name", ["auto", "cuda", "cuda:1"])
def test_attention_plans_for_no_shape_on_a_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.zeros", lambda *_, device: torch.ones(1))
    choose_device(name)
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.usefixtures("usual_attention")
def test_a_cpu_changes_nothing_for_other_models_on_a_gpu() -> None:
    choose_device("cpu")
    assert torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("fast", [0, 1])
def test_it_is_the_gpu_that_computes_which_is_asked_for_bf16(
    fast: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two GPUs, one has it."""
    current = [0]

    @contextmanager
    def select(device: torch.device) -> Iterator[None]:
        current.append(device.index)
        yield
        current.pop()

    monkeypatch.setattr("torch.cuda.device", select)
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda **_: current[-1] == fast)

    found = [has_fast_bf16(torch.device("cuda", number)) for number in (0, 1)]

    assert found == [fast == 0, fast == 1]


def test_a_gpu_that_is_there_and_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available\nCompile with more")

    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.zeros", fail)
    with pytest.raises(DragomanError, match="cannot be used: CUDA error: no kernel image is avail"):
        choose_device("cuda")


@pytest.fixture
def two_threads() -> Iterator[None]:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(usual)


@pytest.mark.usefixtures("two_threads")
def test_only_the_thread_that_asks_computes_in_one() -> None:
    with ThreadPoolExecutor(1) as before, ThreadPoolExecutor(1) as alone:
        before.submit(torch.get_num_threads).result()
        for _ in range(2):
            alone.submit(compute_in_one_thread).result()

        assert alone.submit(torch.get_num_threads).result() == 1
        assert before.submit(torch.get_num_threads).result() == torch.get_num_threads() == 2
    with ThreadPoolExecutor(1) as after:
        assert after.submit(torch.get_num_threads).result() == 2


@pytest.mark.skipif(sys.platform != "linux", reason="of the OpenMP of GCC")
@pytest.mark.parametrize("command", ["train", "finetune", "distill"])
def test_the_threads_of_a_training_do_not_spin_for_long(command: str, tmp_path: Path) -> None:
    """The library of PyTorch says so itself, when it is loaded."""
    missing = str(tmp_path / "missing")
    options = ["-o", str(tmp_path / "run")]
    options += [] if command == "train" else [missing]
    options += ["--student", "tiny-6-1"] if command == "distill" else []

    def said(**more: str) -> str:
        environment = {**os.environ, "OMP_DISPLAY_ENV": "verbose", **more}
        environment = {name: value for name, value in environment.items() if value}
        done = subprocess.run(
            [sys.executable, "-m", "dragoman", command, missing, *options],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        return done.stderr

    usual = {"OMP_WAIT_POLICY": "", "GOMP_SPINCOUNT": ""}
    assert "GOMP_SPINCOUNT = '5000'" in said(**usual)
    if command != "train":  # all set it in the same place
        return
    assert "GOMP_SPINCOUNT = '7'" in said(**usual | {"GOMP_SPINCOUNT": "7"})
    assert "GOMP_SPINCOUNT = '5000'" not in said(**usual | {"OMP_WAIT_POLICY": "active"})
