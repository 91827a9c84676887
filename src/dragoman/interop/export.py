"""What all exports have in common."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dragoman.errors import DragomanError
from dragoman.interop.proof import (
    LENGTH_LIMIT,
    TOLERANCE,
    Agreement,
    Copy,
    LoadedModel,
    compare,
)
from dragoman.model_directory import ModelDirectory

Quantization = Literal["int8", "float32"]


class ExportError(DragomanError):
    """A model cannot be expressed in the other format, or was not understood there."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """How an export was shown to be correct."""

    in_single_precision: Agreement
    """The comparison before any weights were rounded."""

    num_equal: int
    """Sentences that the finished export translates to the same tokens."""


def prove(model: LoadedModel, copy: Copy, *, tolerance: float = TOLERANCE) -> Agreement:
    """Compare an export with the model that it was made from.

    Raises:
        ExportError: they compute different things; log-probabilities may differ by the tolerance.
    """
    agreement = compare(model, copy)
    if not (agreement.holds and agreement.largest_difference < tolerance):
        raise ExportError(
            f"{model.directory.path}: the copy computes something else: {agreement.num_equal} of "
            f"{agreement.num_sentences} translations are equal, log-probabilities differ by up "
            f"to {agreement.largest_difference:.1e}; nothing was written"
        )
    return agreement


def compare_rounded(model: LoadedModel, copy: Copy) -> Agreement:
    """Compare an export with rounded weights, which may choose other tokens, but must choose some.

    Raises:
        ExportError: it gives values that are not numbers.
    """
    agreement = compare(model, copy)
    if not math.isfinite(agreement.largest_difference):
        raise ExportError(
            f"{model.directory.path}: with rounded weights the copy gives probabilities that are "
            "not numbers; take --quantization float32; nothing was written"
        )
    return agreement


def count_positions(directory: ModelDirectory) -> int:
    """Count the positions that a model's own search and the proof may need.

    A translation that has reached the length limit is judged with its end, too.
    """
    longest = directory.description.max_length
    of_proof = LENGTH_LIMIT + 1  # plus the token that a translation begins with
    return max(longest + 1, directory.search.max_length(longest) + 1, of_proof)


def write_json(path: Path, table: dict[str, Any]) -> None:
    """Write a file that people can read."""
    path.write_text(json.dumps(table, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
