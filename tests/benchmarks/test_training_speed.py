"""Peers train with their own settings, ours with what it needs."""

from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

from dragoman.errors import DragomanError
from dragoman.model.config import PRESETS, TransformerConfig

from .conftest import Load


@pytest.fixture
def benchmark(load: Load) -> Any:
    return load("training_speed")


@pytest.mark.usefixtures("gpus")
def test_a_peer_has_cudnn_attention_on_a_gpu(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def peer(work: Any, precision: str) -> None:
        found.append((work.device, torch.backends.cuda.cudnn_sdp_enabled()))

    for name in ("prepare", "batches_of", "measure"):
        monkeypatch.setattr(benchmark, name, MagicMock())
    monkeypatch.setitem(benchmark.SUBJECTS, "huggingface", peer)

    benchmark.run_one(
        Namespace(
            subject="huggingface",
            pairs=Path("pairs.tsv"),
            data=Path("data"),
            size="small",
            tokens=1000,
            fill=0.92,
            threads=torch.get_num_threads(),
            device="cuda:1",
            compile=False,
            precision="fp32",
            seconds=1.0,
            peers_as_ours=False,
        )
    )

    assert found == [(torch.device("cuda:1"), True)]


def work(benchmark: Any, **changed: Any) -> Any:
    sizes: dict[str, Any] = dict(PRESETS["tiny"])
    given = {
        "model": TransformerConfig(**sizes),
        "vocab_size": 20,
        "pad_id": 0,
        "bos_id": 2,
        "eos_id": 3,
        "label_smoothing": 0.1,
        "learning_rate": 1e-4,
        "device": torch.device("cpu"),
        "compile": False,
    }
    return benchmark.Work(**given | changed)


def test_ours_has_the_attention_of_a_training(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = []

    def choose(name: str) -> torch.device:
        chosen.append(name)
        return torch.device("cpu")

    monkeypatch.setattr(benchmark, "choose_device", choose)

    subject = benchmark.Dragoman(work(benchmark, device=torch.device("cuda:1")), "fp32")

    assert chosen == ["cuda:1"]
    assert subject.device == torch.device("cpu")


@pytest.mark.usefixtures("gpus")
def test_blocks_are_not_compiled_without_a_compiler(
    benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)

    with pytest.raises(DragomanError, match="needs a C compiler"):
        benchmark.Dragoman(work(benchmark, device=torch.device("cuda"), compile=True), "fp32")
