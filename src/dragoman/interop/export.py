"""What all exports have in common."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.config import DragomanError
from dragoman.interop.proof import LENGTH_LIMIT, Agreement, Copy, LoadedModel, compare
from dragoman.model_directory import ModelDirectory
from dragoman.translator import default_search


class ExportError(DragomanError):
    """A model cannot be expressed in the other format, or was not understood there."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """How an export was shown to be right."""

    in_single_precision: Agreement
    """Before any weights were rounded."""

    num_equal: int
    """Sentences that the finished export translates to the same tokens."""


def prove(model: LoadedModel, copy: Copy) -> Agreement:
    """Compare an export with the model that it was made from.

    Raises:
        ExportError: they compute different things.
    """
    agreement = compare(model, copy)
    if not agreement.holds:
        raise ExportError(
            f"{model.directory.path}: the copy computes something else: {agreement.num_equal} of "
            f"{agreement.num_sentences} translations are equal, log-probabilities differ by up "
            f"to {agreement.largest_difference:.1e}; nothing was written"
        )
    return agreement


def count_positions(directory: ModelDirectory) -> int:
    """Count the positions that a model's own search can ask for, and those of the proof."""
    longest = directory.description.max_length
    return max(longest + 1, default_search(directory).max_length(longest), LENGTH_LIMIT)


def write_json(path: Path, table: dict[str, Any]) -> None:
    """Write a file that people may look into."""
    path.write_text(json.dumps(table, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
