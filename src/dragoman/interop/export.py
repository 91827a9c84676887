"""What all exports have in common: written beside their place, proved, and only then in it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.config import DragomanError
from dragoman.interop.proof import LENGTH_LIMIT, Agreement, Copy, LoadedModel, compare
from dragoman.model_directory import WEIGHTS_OF_ORIGIN, ModelDirectory
from dragoman.translator import default_search

CONFIG_NAME = "config.json"


class ExportError(DragomanError):
    """A model cannot be expressed in the other format, or was not understood there."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """How an export was shown to be right."""

    in_single_precision: Agreement
    """Before any weights were rounded."""

    num_equal: int
    """Sentences that the finished export translates to the same tokens."""


@contextmanager
def staging(output: Path, *, weights_name: str) -> Iterator[Path]:
    """Give an empty directory to export into, which becomes `output` when the block ends well.

    Args:
        output: An earlier export of the same format is replaced.
        weights_name: The file by which such an export is known, beside a `config.json` that says
            which weights it was made from.

    Raises:
        ExportError: the output holds something else.
    """
    output = output.resolve()
    if output.exists() and not _is_earlier_export(output, weights_name):
        raise ExportError(f"{output}: there is something else; name another output")
    unfinished = output.with_name(f".{output.name}.writing")
    shutil.rmtree(unfinished, ignore_errors=True)  # left by an interruption
    try:
        unfinished.mkdir(parents=True)
        yield unfinished
        shutil.rmtree(output, ignore_errors=True)
        unfinished.rename(output)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


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


def _is_earlier_export(output: Path, weights_name: str) -> bool:
    """Tell whether a directory may be replaced; an empty one may."""
    if output.is_dir() and not any(output.iterdir()):
        return True
    try:
        config = json.loads((output / CONFIG_NAME).read_bytes())
    except (OSError, ValueError):
        return False
    return (
        isinstance(config, dict)
        and WEIGHTS_OF_ORIGIN in config
        and (output / weights_name).is_file()
    )
