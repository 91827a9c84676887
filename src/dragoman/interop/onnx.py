"""A copy of a model in ONNX, for onnxruntime: in a browser, on a phone, or anywhere."""

from pathlib import Path

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

from dragoman.interop.export import (
    Proof,
    Quantization,
    compare_rounded,
    count_positions,
    prove,
    write_json,
)
from dragoman.interop.onnx_description import describe, explain
from dragoman.interop.onnx_graphs import DECODER_NAME, ENCODER_NAME, write_graphs
from dragoman.interop.onnx_proof import OnnxCopy
from dragoman.interop.proof import LoadedModel
from dragoman.interop.staging import CONFIG_NAME, staging

COPY_NAME = "onnx"


def export_onnx(
    path: Path, output: Path | None = None, *, quantization: Quantization = "float32"
) -> Proof:
    """Write a model as ONNX graphs, after showing that onnxruntime computes the same.

    Args:
        path: A model directory.
        output: The directory to write; if not given, the folder `onnx` in the model's own. An
            earlier export is replaced.
        quantization: How weights are stored: int8 takes about a third of the size.

    Raises:
        ExportError: onnxruntime computes something else.
        ModelError: there is no model.
    """
    model = LoadedModel.load(path)
    with staging(output or path / COPY_NAME, weights_name=DECODER_NAME) as directory:
        num_positions = count_positions(model.directory)
        write_graphs(model.transformer, directory, num_positions=num_positions)
        model.tokenizers.save(directory)
        description = describe(model, num_positions=num_positions, quantization=quantization)
        write_json(directory / CONFIG_NAME, description)
        (directory / "README.md").write_text(explain(model), encoding="utf-8")
        finished = exact = prove(model, OnnxCopy(directory))
        if quantization == "int8":
            _round(directory / ENCODER_NAME)
            _round(directory / DECODER_NAME)
            finished = compare_rounded(model, OnnxCopy(directory))
    return Proof(in_single_precision=exact, num_equal=finished.num_equal)


def _round(graph: Path) -> None:
    """Round the weights of a graph to 8 bits; what they are multiplied by is rounded at run time.

    The exporter has folded constants and inferred shapes, which is the required preparation.
    Folding more would write a table twice that embeddings and projection share.
    """
    prepared = onnx.load(graph)
    add_pre_process_metadata(prepared)
    quantize_dynamic(prepared, graph, weight_type=QuantType.QInt8)
