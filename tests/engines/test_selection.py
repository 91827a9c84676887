"""A model is run by the engine that suits what is asked of it, or a sentence says why it is not."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.decoding.config import SearchConfig
from dragoman.engines import selection
from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.ctranslate2_copy import COPY_NAME
from dragoman.engines.protocol import EngineError
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.engines.selection import (
    EngineSettings,
    build_engine,
    build_second_engine,
    describe_choice,
    fault_of_unused_copy,
    pytorch_computes_on,
)
from dragoman.errors import DragomanError, UsageError
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import ModelDirectory
from dragoman.model_directory.weights import WEIGHTS_NAME
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers

CONFIG = TokenizerConfig(kind="words", vocab_size=30)
WORDS = [("the cat sees the dog", "il gatto vede il cane"), ("a dog sleeps", "un cane dorme")]
BEAM = SearchConfig(beam_size=2, max_length_ratio=0.0, max_length_extra=6)
SAMPLES = SearchConfig(sampling_temperature=1.0)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    return train_tokenizers(CONFIG, lambda: WORDS, tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(scope="module")
def model(tokenizers: TokenizerPair, tmp_path_factory: pytest.TempPathFactory) -> ModelDirectory:
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("model")
    save_transformer(path, untrained(tokenizers), tokenizers, CONFIG)
    export_ctranslate2(path, quantization="float32")
    return ModelDirectory(path)


@pytest.fixture
def uncopied(model: ModelDirectory, tmp_path: Path) -> ModelDirectory:
    leave_out = shutil.ignore_patterns(COPY_NAME)
    return ModelDirectory(Path(shutil.copytree(model.path, tmp_path / "model", ignore=leave_out)))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "ctranslate2"),
        ({"device": "cpu"}, "ctranslate2"),
        ({"threads": 1}, "ctranslate2"),
        ({"engine": "ctranslate2"}, "ctranslate2"),
        ({"engine": "pytorch"}, "pytorch on cpu in float32"),
        ({"precision": "fp32"}, "pytorch on cpu in float32"),
        ({"precision": "bf16"}, "pytorch on cpu in bfloat16"),
        ({"shortlist": True}, "ctranslate2"),
    ],
)
def test_the_copy_is_taken_unless_something_needs_pytorch(
    asked: dict[str, Any], expected: str, model: ModelDirectory
) -> None:
    assert describe_choice(model, BEAM, EngineSettings(**asked)) == expected


def test_samples_and_models_without_a_copy_need_pytorch(
    model: ModelDirectory, uncopied: ModelDirectory
) -> None:
    assert describe_choice(model, SAMPLES, EngineSettings()) == "pytorch on cpu in float32"
    assert describe_choice(uncopied, BEAM, EngineSettings()) == "pytorch on cpu in float32"


def test_a_copy_gives_way_to_a_gpu_unless_the_cpu_is_asked_for(
    model: ModelDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    assert not pytorch_computes_on("cuda", model, BEAM, EngineSettings())  # not PyTorch's
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)

    assert pytorch_computes_on("cuda", model, BEAM, EngineSettings())
    assert describe_choice(model, BEAM, EngineSettings(device="cpu")) == "ctranslate2"
    assert not pytorch_computes_on("cuda", model, BEAM, EngineSettings(engine="ctranslate2"))
    on_cpu = EngineSettings(engine="pytorch", device="cpu")
    assert not pytorch_computes_on("cuda", model, BEAM, on_cpu)
    assert pytorch_computes_on("cpu", model, BEAM, on_cpu)


def test_a_gpu_that_is_asked_for_is_missed_though_there_is_a_copy(
    model: ModelDirectory, tokenizers: TokenizerPair
) -> None:
    with pytest.raises(DragomanError, match="'cuda': PyTorch finds no GPU here"):
        build_engine(model, tokenizers, BEAM, EngineSettings(device="cuda"))


@pytest.mark.parametrize(
    ("search", "asked", "refused"),
    [
        (BEAM, {"precision": "fp32"}, "precision fp32 is for PyTorch"),
        (BEAM, {"device": "cuda"}, "is used on the CPU here, not on cuda"),
        (SAMPLES, {}, "does not sample as Dragoman does; take engine pytorch"),
    ],
)
def test_an_engine_that_is_named_does_not_drop_what_it_cannot_do(
    search: SearchConfig,
    asked: dict[str, Any],
    refused: str,
    model: ModelDirectory,
    tokenizers: TokenizerPair,
) -> None:
    with pytest.raises(UsageError, match=refused):
        build_engine(model, tokenizers, search, EngineSettings(engine="ctranslate2", **asked))


def test_each_engine_computes_with_the_threads_that_are_asked_for(
    model: ModelDirectory, tokenizers: TokenizerPair
) -> None:
    before = torch.get_num_threads()
    try:
        copy = build_engine(model, tokenizers, BEAM, EngineSettings(threads=3))
        assert torch.get_num_threads() == before
        build_engine(model, tokenizers, BEAM, EngineSettings(engine="pytorch", threads=3))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert isinstance(copy, CTranslate2Engine)
    assert copy.searches_at_once == 3


def test_pytorch_is_told_what_a_model_may_write(tokenizers: TokenizerPair, tmp_path: Path) -> None:
    unknown = tokenizers.target.special_ids.unk
    transformer = untrained(tokenizers)
    with torch.no_grad():  # whatever the state, the unknown word is the most probable one
        dict(transformer.named_parameters())["decoder.norm.bias"].fill_(1.0)
        transformer.projection.linear.weight[unknown] = 9.0
    directory = save_transformer(tmp_path / "model", transformer, tokenizers, CONFIG)

    engine = build_engine(directory, tokenizers, BEAM, EngineSettings(engine="pytorch"))
    ((found,),) = engine.search([[5, 6, 7]], BEAM)

    # It is forbidden where subwords can write anything, but not in a vocabulary of whole words.
    assert unknown in found.ids


def test_a_second_engine_is_one_that_nobody_has_excluded(
    model: ModelDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_alone = ModelDirectory(Path(shutil.copytree(model.path, tmp_path / "copy")))
    (copy_alone.path / WEIGHTS_NAME).unlink()

    assert isinstance(build_second_engine(model, EngineSettings()), PyTorchEngine)
    assert build_second_engine(model, EngineSettings(engine="ctranslate2")) is None
    assert build_second_engine(copy_alone, EngineSettings()) is None
    monkeypatch.setattr(selection, "NEEDED_BY_PYTORCH", ("torch", "no_such_package"))
    assert build_second_engine(model, EngineSettings()) is None


def test_a_copy_that_cannot_be_used_is_not_passed_over_in_silence(
    model: ModelDirectory, uncopied: ModelDirectory, tmp_path: Path
) -> None:
    damaged = ModelDirectory(Path(shutil.copytree(model.path, tmp_path / "damaged")))
    (damaged.path / COPY_NAME / "config.json").unlink()

    assert fault_of_unused_copy(model) is None
    assert fault_of_unused_copy(uncopied) is None
    assert "config.json: it is missing" in (fault_of_unused_copy(damaged) or "")


def test_where_pytorch_is_missing_the_copy_is_taken_or_it_is_said_what_needs_it(
    model: ModelDirectory,
    uncopied: ModelDirectory,
    tokenizers: TokenizerPair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)

    assert describe_choice(model, BEAM, EngineSettings()) == "ctranslate2"
    assert describe_choice(uncopied, BEAM, EngineSettings()) == "pytorch, which is not installed"
    assert not pytorch_computes_on("cuda", uncopied, BEAM, EngineSettings())
    with pytest.raises(EngineError, match=r"to sample, .* translates without these options$"):
        build_engine(model, tokenizers, SAMPLES, EngineSettings())
    with pytest.raises(EngineError, match=r'^translating needs PyTorch, .* --to ctranslate2" ma'):
        build_engine(uncopied, tokenizers, BEAM, EngineSettings())


def test_pytorch_that_is_there_but_broken_is_not_taken_for_missing(
    model: ModelDirectory,
    tokenizers: TokenizerPair,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libtorch.so: wrong ELF class')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "torch")

    with pytest.raises(EngineError, match=r"cannot be imported \(libtorch.so: wrong ELF class\)"):
        build_engine(model, tokenizers, BEAM, EngineSettings(engine="pytorch"))
