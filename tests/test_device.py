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

import dragoman
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


UNSET = {"OMP_WAIT_POLICY": "", "GOMP_SPINCOUNT": ""}


def said_while_loading(command: str, directory: Path, **variables: str) -> str:
    """Begin to train something that is not there, and return what was said."""
    missing = str(directory / "missing")
    recipe = directory / "recipe.toml"
    recipe.write_text(
        'source_language = "en"\ntarget_language = "it"\n'
        'corpora.train = [{ path = "missing" }]\nmodel.preset = "tiny"\n'
    )
    words = {
        "train": [str(recipe)],
        "finetune": [missing, missing],
        "distill": [missing, missing, "--student", "tiny-6-1"],
    }[command]
    environment = {**os.environ, **UNSET, **variables}
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", command, *words, "-o", str(directory / "run")],
        env={name: value for name, value in environment.items() if value},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="of the OpenMP of GCC")
def test_the_threads_of_a_training_do_not_spin_for_long(tmp_path: Path) -> None:
    """The library of PyTorch says so itself, when it is loaded."""
    said = said_while_loading("train", tmp_path, OMP_DISPLAY_ENV="verbose")

    assert "GOMP_SPINCOUNT = '5000'" in said


@pytest.mark.parametrize(
    ("command", "given", "expected"),
    [
        ("train", {"GOMP_SPINCOUNT": "7"}, "7"),
        ("train", {"OMP_WAIT_POLICY": "active"}, "None"),
        ("finetune", {}, "5000"),
        ("distill", {}, "5000"),
    ],
)
def test_how_long_threads_spin_is_known_before_pytorch_is_loaded(
    command: str, given: dict[str, str], expected: str, tmp_path: Path
) -> None:
    """Something else is loaded in its place: it takes seconds."""
    (tmp_path / "torch.py").write_text(
        "import os, sys\nsys.exit(os.getenv('GOMP_SPINCOUNT', 'None'))"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(dragoman.__file__ or "").parents[1])])

    said = said_while_loading(command, tmp_path, PYTHONPATH=path, **given)

    assert said.splitlines()[-1] == expected
