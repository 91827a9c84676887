"""The ONNX graphs compute the same, whatever the batch and the lengths, or they are not written."""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from tests.learned_positions import LearnedPositions

from dragoman.decoding.config import SearchConfig
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop import onnx as exporting
from dragoman.interop import onnx_graphs
from dragoman.interop.export import ExportError
from dragoman.interop.marian import convert_marian
from dragoman.interop.onnx import export_onnx
from dragoman.interop.onnx_description import explain
from dragoman.interop.onnx_proof import OnnxCopy
from dragoman.interop.proof import LoadedModel, compare
from dragoman.interop.staging import OutputError
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import SpecialIds

Exported = Any
Save = Callable[..., ModelDirectory]

pytestmark = pytest.mark.slow

PADDING = 0
TEXTS = ["The cat sees the dog.", "Where is\u00a0a  table?", "dog"]


class Graphs:
    """An export, run step by step."""

    def __init__(self, directory: Path) -> None:
        self.config = json.loads((directory / "config.json").read_text())
        self.encoder = onnxruntime.InferenceSession(directory / "encoder.onnx")
        self.decoder = onnxruntime.InferenceSession(directory / "decoder.onnx")

    def start(self, source: torch.Tensor) -> dict[str, Any]:
        keys, values = self.encoder.run(None, {"source": source.numpy()})
        layers, heads, width = (self.config[key] for key in ("num_layers", "num_heads", "d_k"))
        nothing = np.zeros((layers, len(source), heads, 0, width), np.float32)
        return {
            "source": source.numpy(),
            "source_keys": keys,
            "source_values": values,
            "past_keys": nothing,
            "past_values": nothing,
        }

    def step(self, tokens: torch.Tensor, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        found, keys, values = self.decoder.run(None, {"tokens": tokens.numpy(), **state})
        return found, {**state, "past_keys": keys, "past_values": values}


def test_the_command_says_what_was_proved_and_nothing_else(exported: Exported) -> None:
    proved, wrote = exported.output.splitlines()

    assert re.fullmatch(
        r"proved in float32: 20 of 20 translations by onnxruntime equal those of PyTorch, "
        r"log-probabilities differ by at most \d\.\de-0[567]",
        proved,
    )
    assert wrote == f"wrote {exported.path}"
    assert exported.errors == ""


@pytest.mark.parametrize("positions", ["exported", "exported_rotary"])
@pytest.mark.parametrize(
    ("lengths", "steps"),
    [([1], [1]), ([4, 1, 9], [3, 1, 1, 2]), ([2, 2, 2, 2, 2], [11]), ([260], [1, 1])],
)
def test_any_batch_and_lengths_give_the_log_probabilities_of_the_model(
    request: pytest.FixtureRequest, positions: str, lengths: list[int], steps: list[int]
) -> None:
    exported = request.getfixturevalue(positions)
    directory = exported.model
    graphs, model = Graphs(exported.path), directory.load_transformer()
    source = torch.full((len(lengths), max(lengths)), PADDING)
    for row, length in zip(source, lengths, strict=True):
        row[:length] = torch.randint(4, 300, (length,))
    target = torch.randint(4, 300, (len(lengths), sum(steps)))

    state, found = graphs.start(source), []
    for tokens in target.split(steps, dim=1):
        log_probabilities, state = graphs.step(tokens, state)
        found.append(torch.from_numpy(log_probabilities))

    with torch.inference_mode():
        expected = model(source, target).log_softmax(dim=-1)
    torch.testing.assert_close(torch.cat(found, dim=1), expected, atol=5e-5, rtol=0)


def test_positions_of_another_kind_are_traced_as_they_are(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = save().load_transformer()
    model.positions = LearnedPositions(model.config.d_model)  # type: ignore[assignment]
    traced: list[Any] = []
    monkeypatch.setattr(onnx_graphs, "_trace", lambda graph, *_: traced.append(graph))

    onnx_graphs.write_graphs(model, tmp_path, num_positions=300)

    assert len(traced) == 2
    for graph in traced:
        assert isinstance(graph.transformer.positions, LearnedPositions)


def test_to_run_past_the_last_position_is_an_error(exported: Exported) -> None:
    graphs = Graphs(exported.path)
    last = graphs.config["num_positions"]
    graphs.start(torch.full((1, last), 7))

    with pytest.raises(
        onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="invalid index"
    ):
        graphs.start(torch.full((1, last + 1), 7))


def test_the_description_is_that_of_the_graphs(exported: Exported) -> None:
    graphs = Graphs(exported.path)
    types = {"tensor(int64)": "int64", "tensor(float)": "float32"}
    sizes = {"layer": 2, "head": 2, "d_k": 8, "vocabulary": 301}

    for name, session in (("encoder.onnx", graphs.encoder), ("decoder.onnx", graphs.decoder)):
        for kind, nodes in (("inputs", session.get_inputs()), ("outputs", session.get_outputs())):
            described = graphs.config[name][kind]
            assert list(described) == [node.name for node in nodes]
            for node in nodes:
                axes = described[node.name].removeprefix(types[node.type]).strip("[]").split(", ")
                assert len(axes) == len(node.shape)
                for axis, size in zip(axes, node.shape, strict=True):
                    assert size in (sizes.get(axis, axis), " + ".join(axis.split(" + ")[::-1]))


def test_the_description_has_the_numbers_of_the_model(exported: Exported) -> None:
    config, description = Graphs(exported.path).config, exported.model.description

    assert config["max_source_length"] == description.max_length
    assert config["forbidden_ids"] == sorted(description.forbidden_ids)


def test_the_example_of_the_readme_translates_without_pytorch_and_without_us(
    exported: Exported,
) -> None:
    path = exported.path
    readme = (path / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    blocked = "import sys\nsys.modules['torch'] = sys.modules['dragoman'] = None\n"
    greedy = SearchConfig(beam_size=1, max_length_ratio=0.5, max_length_extra=6)
    engine = PyTorchEngine(exported.model.load_transformer(), SpecialIds())
    tokenizer = exported.model.load_tokenizers().source

    for text in TEXTS:
        run = subprocess.run(
            [sys.executable, "-c", blocked + program],
            input=text,
            cwd=path,
            env={**os.environ, "PYTHONPATH": ""},
            check=True,
            capture_output=True,
            text=True,
        )
        ((found,),) = engine.search([tokenizer.encode(text)], greedy)
        assert run.stdout == tokenizer.decode(found.ids) + "\n"


@pytest.mark.parametrize("tokenizer", ["joint", "separate", "words", "marian"])
def test_the_example_of_the_readme_reads_the_tokenizers_beside_it(
    save: Save,
    save_marian: Callable[..., Any],
    tokenizer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if tokenizer == "marian":
        save_marian()
        convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))
        model = LoadedModel.load(tmp_path / "imported")
    else:
        model = LoadedModel.load(save(tokenizer=tokenizer).path)
    model.tokenizers.save(tmp_path / "export")
    beginning = explain(model).split("```python\n")[1].split("with open")[0]
    monkeypatch.chdir(tmp_path / "export")

    names: dict[str, Any] = {}
    exec(beginning, names)

    for text in TEXTS:
        for side in ("source", "target"):
            expected = getattr(model.tokenizers, side).encode(text)
            assert list(names[f"{side}_tokenizer"].encode(normalise(text))) == expected


def test_forbidden_tokens_are_in_no_translation_of_the_proof(
    exported: Exported, tmp_path: Path
) -> None:
    copy = shutil.copytree(exported.path, tmp_path / "copy")
    sources = [[5, 6, 7], [8, 9]]
    liked = {token for tokens in OnnxCopy(copy).translate(sources) for token in tokens}
    path = copy / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"forbidden_ids": sorted(liked)}))

    translations = OnnxCopy(copy).translate(sources)

    assert any(translations)
    assert liked
    assert liked.isdisjoint(token for tokens in translations for token in tokens)


def test_an_export_that_somebody_has_changed_is_not_replaced(
    exported: Exported, tmp_path: Path
) -> None:
    changed = shutil.copytree(exported.path, tmp_path / "changed")
    (changed / "README.md").write_text("of somebody")

    with pytest.raises(OutputError, match="it is not an export, or one that was changed"):
        export_onnx(exported.model.path, changed)

    assert (changed / "README.md").read_text() == "of somebody"


@pytest.fixture
def traced_before(exported: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the graphs of the exported model, instead of tracing another one."""

    def copy_graphs(_: object, directory: Path, **__: object) -> None:
        for name in ("encoder.onnx", "decoder.onnx"):
            shutil.copy(exported.path / name, directory / name)

    monkeypatch.setattr(exporting, "write_graphs", copy_graphs)


@pytest.mark.usefixtures("traced_before")
def test_rounded_weights_are_smaller_and_change_little(
    exported: Exported, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = exported.model
    output = tmp_path / "rounded"

    with caplog.at_level(logging.WARNING):
        proof = export_onnx(directory.path, output, quantization="int8")

    assert not caplog.records
    assert proof.in_single_precision.holds
    agreement = compare(LoadedModel.load(directory.path), OnnxCopy(output))
    assert proof.num_equal == agreement.num_equal
    assert json.loads((output / "config.json").read_text())["quantization"] == "int8"
    for name in ("encoder.onnx", "decoder.onnx"):
        exact = (exported.path / name).stat().st_size
        assert (output / name).stat().st_size < exact
    source, tokens = torch.randint(4, 300, (2, 5)), torch.randint(4, 300, (2, 3))
    rounded, exact_graphs = Graphs(output), Graphs(exported.path)
    found, _ = rounded.step(tokens, rounded.start(source))
    expected, _ = exact_graphs.step(tokens, exact_graphs.start(source))
    assert 1e-6 < np.abs(np.exp(found) - np.exp(expected)).mean() < 1e-2


@pytest.mark.usefixtures("traced_before")
def test_rounded_graphs_that_give_no_numbers_are_not_written(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(path: Path) -> None:
        graph = onnx.load(path)
        for tensor in graph.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT:
                nothing = np.full(tensor.dims, np.nan, np.float32)
                tensor.CopyFrom(onnx.numpy_helper.from_array(nothing, tensor.name))
        onnx.save(graph, path)

    monkeypatch.setattr(exporting, "_round", spoil)

    with pytest.raises(ExportError, match="not numbers; take --quantization float32; nothing was"):
        export_onnx(exported.model.path, tmp_path / "rounded", quantization="int8")

    assert not (tmp_path / "rounded").exists()


@pytest.mark.usefixtures("traced_before")
def test_graphs_that_compute_something_else_are_not_written(exported: Exported, save: Save) -> None:
    config = exported.model.description.model
    directory = save(
        num_encoder_layers=config.num_encoder_layers,
        num_decoder_layers=config.num_decoder_layers,
        tied_embeddings="all",
    )  # of the same shape, with other weights
    before = sorted(directory.path.iterdir())

    with pytest.raises(ExportError, match=r"something else: .* nothing was written"):
        export_onnx(directory.path)

    assert sorted(directory.path.iterdir()) == before
