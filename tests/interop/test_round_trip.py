"""A model of Hugging Face's translates the same in every format that it passes through."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.interop.marian import convert_marian
from dragoman.interop.marian_export import export_marian
from dragoman.interop.marian_proof import HuggingFaceCopy
from dragoman.interop.onnx_proof import OnnxCopy
from dragoman.interop.proof import GREEDY, LoadedModel
from dragoman.translator import Translator

TEXTS = ["the cat", "", "where is the old station", "a dog runs after the cat on the table"]
SaveMarian = Callable[..., Any]


@pytest.fixture
def original(save_marian: SaveMarian, tmp_path: Path) -> Path:
    """Make a model that likes to end, and never says what is no text."""
    theirs = save_marian(encoder_layers=1, decoder_layers=2)
    theirs.final_logits_bias[0, theirs.config.eos_token_id] = 3.0
    theirs.final_logits_bias[0, [1, theirs.config.pad_token_id]] = -30.0
    theirs.save_pretrained(tmp_path)
    convert_marian(
        tmp_path, tmp_path / "imported", languages=("en", "it"), language_token=">>ita<<"
    )
    return tmp_path


def test_both_engines_translate_an_imported_model_alike(original: Path) -> None:
    path = original / "imported"
    export_ctranslate2(path, quantization="float32")

    by_pytorch = Translator(path, engine="pytorch", device="cpu")(TEXTS)

    assert Translator(path, engine="ctranslate2")(TEXTS) == by_pytorch
    assert by_pytorch[1] == ""
    assert any(by_pytorch)


@pytest.mark.slow
def test_all_formats_translate_to_the_same_tokens(original: Path) -> None:
    path = original / "imported"
    export_ctranslate2(path, quantization="float32")
    export_marian(path)
    command = [sys.executable, "-m", "dragoman", "export", str(path), "--to", "onnx"]
    subprocess.run(command, check=True)
    model = LoadedModel.load(path)
    pad = model.directory.description.special_ids.pad
    sources = [torch.randint(2, pad - 1, (length,)).tolist() for length in (1, 3, 8, 13)]

    expected = HuggingFaceCopy(original, model.directory.description.forbidden_ids).translate(
        sources
    )

    engine = CTranslate2Engine(model.directory, model.tokenizers)
    assert any(expected)
    assert model.in_pytorch.translate(sources) == expected
    assert [list(found[0].ids) for found in engine.search(sources, GREEDY)] == expected
    assert HuggingFaceCopy(path / "marian", ()).translate(sources) == expected
    assert OnnxCopy(path / "onnx").translate(sources) == expected
