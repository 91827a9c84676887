"""`dragoman export`: a model in other people's formats."""

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from dragoman.cli.options import Flag, OutputIfAny
from dragoman.cli.text_output import print_json

if TYPE_CHECKING:
    from dragoman.interop.export import Proof

Format = Literal["ctranslate2", "marian", "onnx"]
Quantization = Literal["int8", "float32"]

READERS: dict[Format, str] = {
    "ctranslate2": "CTranslate2",
    "marian": "transformers",
    "onnx": "onnxruntime",
}


def export(
    model: Path,
    /,
    *,
    to: Format,
    output: OutputIfAny = None,
    quantization: Quantization | None = None,
    json: Flag = False,
) -> None:
    """Write a model in another format, after showing that it translates the same there.

    ctranslate2 is a copy that usually translates faster, and without PyTorch. It is kept in the
    model directory, `dragoman translate` uses it from then on, and so can other programs that
    support CTranslate2.

    marian is what Hugging Face's MarianMTModel and MarianTokenizer load. It only supports models
    that were trained with model.norm = "after": the presets have the norm before each sublayer,
    which Marian cannot express.

    onnx is for onnxruntime, and thus for browsers, phones and other programming languages: one
    graph reads the source, and one writes the target token by token.

    Before anything is written, the export must give the same translations and log-probabilities in
    single precision; only then are its weights rounded, if int8 is chosen.

    For example:

        dragoman export runs/en-it --to ctranslate2
        dragoman export runs/en-it --to onnx --quantization int8 -o site/model

    Parameters
    ----------
    model
        A model directory.
    to
        The format.
    output
        The directory to write; if left out, a folder of the model directory named after the format.
    quantization
        How weights are stored: int8 makes matrices a quarter as large, and the whole a quarter to
        two fifths (ctranslate2) or about a third (onnx); float32 changes nothing. If left out, int8
        for ctranslate2 and float32 for the others; marian has no int8.
    json
        Print one JSON object, for programs.
    """
    rounding = quantization or ("int8" if to == "ctranslate2" else "float32")
    proof = _export(model, to, output, rounding)
    written = output or model / to
    if json:
        print_json({"output": str(written), "quantization": rounding, **asdict(proof)})
        return
    exact = proof.in_single_precision
    print(
        f"proved in float32: {exact.num_equal} of {exact.num_sentences} translations by "
        f"{READERS[to]} equal those of PyTorch, log-probabilities differ by at most "
        f"{exact.largest_difference:.1e}"
    )
    if to == "marian":
        print("imported again, all weights are the same; texts are cut into the same tokens")
    if rounding == "int8":
        print(
            f"with int8: {proof.num_equal} of {exact.num_sentences} texts of random tokens are "
            "translated the same; no model is sure of such texts, so real ones differ less"
        )
    if rounding == "int8" and written == model / "ctranslate2":
        print(
            f"dragoman evaluate {quote(str(model))} PAIRS with --engine ctranslate2, and then with "
            "--engine pytorch, shows what that means for real text"
        )
    print(f"wrote {written}")


def _export(model: Path, to: Format, output: Path | None, rounding: Quantization) -> "Proof":
    """Call the export for a format."""
    if to == "ctranslate2":
        from dragoman.interop.ctranslate2 import export_ctranslate2

        return export_ctranslate2(model, output, quantization=rounding)
    if to == "onnx":
        from dragoman.interop.onnx import export_onnx

        return export_onnx(model, output, quantization=rounding)
    if rounding == "int8":
        from dragoman.errors import UsageError

        raise UsageError("--quantization int8: marian has no 8-bit weights; leave it out")
    from dragoman.interop.marian_export import export_marian

    return export_marian(model, output)
