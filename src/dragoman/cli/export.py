"""`dragoman export`: a model in other people's formats."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def export(
    model: Path,
    /,
    *,
    to: Literal["ctranslate2"],
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    quantization: Literal["int8", "float32"] = "int8",
) -> None:
    """Write a model in another format, after showing that it translates the same there.

    ctranslate2 is a copy that translates faster and without PyTorch. The model directory keeps it,
    `dragoman translate` takes it from then on, and so can other programs that know CTranslate2.
    Before it is written, it must give the same translations and log-probabilities in single
    precision; then its weights are rounded.

    For example:

        dragoman export runs/en-it --to ctranslate2

    Parameters
    ----------
    model
        A model directory.
    to
        The format.
    output
        Where to write it; left out, into the model directory, where it is found.
    quantization
        Of the weights: int8 is a quarter of the size, float32 changes nothing.
    """
    from dragoman.interop.ctranslate2 import export_ctranslate2

    proof = export_ctranslate2(model, output, quantization=quantization)
    exact = proof.in_single_precision
    print(
        f"proved in float32: {exact.num_equal} of {exact.num_sentences} translations equal those "
        f"of PyTorch, log-probabilities differ by at most {exact.largest_difference:.1e}"
    )
    if quantization != "float32":
        print(
            f"with {quantization}: {proof.num_equal} of {exact.num_sentences} random texts are "
            f"translated the same; dragoman evaluate {model} PAIRS says what that means for "
            "real ones"
        )
    print(f"wrote {output or model / to}")
