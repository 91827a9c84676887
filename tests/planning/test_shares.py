"""How several trainings share a machine."""

import os

import pytest
import torch

from dragoman.planning.shares import Shares, share_machine


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give PyTorch six threads, and collect to how many it is limited."""
    limits: list[int] = []
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setattr("torch.get_num_threads", lambda: 6)
    monkeypatch.setattr("torch.set_num_threads", limits.append)
    return limits


@pytest.mark.parametrize(
    ("count", "at_once", "share", "turns"),
    [(2, 2, 3, 1), (4, 4, 1, 1), (6, 6, 1, 1), (9, 9, 1, 1.5), (12, 6, 1, 2), (20, 7, 1, 20 / 6)],
)
def test_trainings_on_a_cpu_share_its_threads(
    count: int, at_once: int, share: int, turns: float, threads: list[int]
) -> None:
    assert share_machine("cpu", count) == Shares(("cpu",) * at_once, turns)
    assert threads == [share]
    assert os.environ["OMP_NUM_THREADS"] == str(share)  # for the processes that are started


@pytest.mark.parametrize(
    ("named", "gpus", "devices", "turns", "share"),
    [
        ("auto", 1, ("auto",), 3, 6),
        ("auto", 2, ("cuda:0", "cuda:1"), 2, 3),
        ("cuda", 8, ("cuda:0", "cuda:1", "cuda:2"), 1, 2),
        ("cuda:1", 8, ("cuda:1",), 3, 6),
    ],
)
def test_trainings_on_gpus_have_one_each(
    named: str,
    gpus: int,
    devices: tuple[str, ...],
    turns: float,
    share: int,
    threads: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = torch.device("cuda" if named == "auto" else named)
    monkeypatch.setattr("dragoman.planning.shares.choose_device", lambda _: device)
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)

    assert share_machine(named, 3) == Shares(devices, turns)
    assert threads == [share]
