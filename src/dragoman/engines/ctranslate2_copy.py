"""The copy of a model that CTranslate2 reads: what belongs to it, and whether it is intact."""

import json
import re
from pathlib import Path
from shlex import quote
from typing import Any

from dragoman.durable import checksum, read_at_most
from dragoman.engines.protocol import EngineError
from dragoman.model_directory import (
    CHECKSUMS,
    LARGEST_CONFIG,
    WEIGHTS_OF_ORIGIN,
    ModelDirectory,
)

COPY_NAME = "ctranslate2"
"""The folder of a model directory that holds the copy that CTranslate2 reads."""

NUM_POSITIONS = "dragoman_num_positions"
"""The key in the copy's `config.json` that says for how many positions it has encodings."""


def fault_of_copy(directory: ModelDirectory) -> str | None:
    """Say why a model has no copy that was made from its current weights, and the mend."""
    try:
        read_config(directory, directory.path / COPY_NAME)
    except EngineError as error:
        return str(error)
    return None


def read_config(directory: ModelDirectory, copy: Path) -> dict[str, Any]:
    """Read the settings of a copy of a model.

    Raises:
        EngineError: there is no copy, or it was not made by `dragoman export`, or from other
            weights.
    """
    if directory.description.ensemble_of is not None:
        raise EngineError(
            f"{directory.path}: CTranslate2 has no ensembles; take engine pytorch, or distil a "
            "student and export that"
        )
    path = copy / "config.json"
    try:
        config = json.loads(read_at_most(path, most=LARGEST_CONFIG))
    except FileNotFoundError:
        if copy.is_dir():
            raise EngineError(f"{path}: it is missing; {_how_to_replace(copy)}") from None
        raise EngineError(
            f"{copy.parent}: it has no copy for CTranslate2; {_how_to_export(copy.parent)}"
        ) from None
    except OSError as error:
        raise EngineError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise EngineError(f"{path}: not JSON: {error}; {_how_to_replace(copy)}") from error
    if not (
        isinstance(config, dict)
        and isinstance(config.get(NUM_POSITIONS), int)
        and _name_files_of_its_own(config.get(CHECKSUMS, {}))
    ):
        raise EngineError(f"{path}: not a copy made by dragoman; {_how_to_replace(copy)}")
    if config.get(WEIGHTS_OF_ORIGIN) != directory.description.weights_sha256:
        raise EngineError(f"{copy}: made from other weights; {_how_to_export(directory.path)}")
    return config


def _name_files_of_its_own(checksums: object) -> bool:
    """Tell whether all the names are of files in the copy; a made-up name may lead anywhere."""
    return isinstance(checksums, dict) and all(
        re.fullmatch(r"\w[\w.]*", name) for name in checksums
    )


def verify(copy: Path, checksums: dict[str, str]) -> None:
    """Compare the files of a copy with what was written; CTranslate2 notices little damage."""
    how = _how_to_export(copy.parent)
    for name, written in checksums.items():
        path = copy / name
        try:
            intact = checksum(path) == written
        except OSError as error:
            raise EngineError(f"{path}: cannot be read: {error.strerror}; {how}") from error
        if not intact:
            raise EngineError(f"{path}: not what was written there, so it is damaged; {how}")


def _how_to_replace(copy: Path) -> str:
    """Say what to do with a folder that an export would not take for an earlier one."""
    return f"move {copy} away, and {_how_to_export(copy.parent)}"


def _how_to_export(model: Path) -> str:
    return f'"dragoman export {quote(str(model))} --to ctranslate2" makes one'
