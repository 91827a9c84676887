"""How several trainings share a machine."""

import os

import pytest
import torch

from dragoman.pipeline.ensemble_training import share_machine


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give PyTorch six threads, and collect to how many it is limited."""
    limits: list[int] = []
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setattr("torch.get_num_threads", lambda: 6)
    monkeypatch.setattr("torch.set_num_threads", limits.append)
    return limits


@pytest.mark.parametrize(
    ("count", "at_once", "share"), [(2, 2, 3), (4, 4, 1), (6, 6, 1), (20, 6, 1)]
)
def test_trainings_on_a_cpu_share_its_threads(
    count: int, at_once: int, share: int, threads: list[int]
) -> None:
    assert share_machine("cpu", count) == ["cpu"] * at_once
    assert threads == [share]
    assert os.environ["OMP_NUM_THREADS"] == str(share)  # for the processes that are started


@pytest.mark.parametrize(
    ("named", "gpus", "expected", "share"),
    [
        ("auto", 1, ["auto"], 6),
        ("auto", 2, ["cuda:0", "cuda:1"], 3),
        ("cuda", 8, ["cuda:0", "cuda:1", "cuda:2"], 2),
        ("cuda:1", 8, ["cuda:1"], 6),
    ],
)
def test_trainings_on_gpus_have_one_each(
    named: str,
    gpus: int,
    expected: list[str],
    share: int,
    threads: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = torch.device("cuda" if named == "auto" else named)
    monkeypatch.setattr("dragoman.pipeline.ensemble_training.choose_device", lambda _: device)
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)

    assert share_machine(named, 3) == expected
    assert threads == [share]
