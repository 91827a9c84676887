"""Complete training states on disk: written all or not at all, and verified before use.

A checkpoint is a directory `update-00001000` of safetensors files and one JSON file. It is
written as `update-00001000.tmp`: each file is flushed to the disk, then a manifest with the size
and the SHA-256 of each, and only then the directory gets its name. A crash at any moment leaves
the checkpoints before it as they were. Nothing in it is a pickle.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.config import DragomanError
from dragoman.durable import flush

NAME = re.compile(r"update-(\d+)")
FORMAT_VERSION = 1
SPARE_SPACE = 1.2
"""Free space that a save asks for, in sizes of the checkpoint."""


class CheckpointError(DragomanError):
    """A checkpoint cannot be written or read."""


@dataclass(frozen=True)
class Checkpoint:
    """What was saved: groups of tensors by name, and plain values."""

    tensors: dict[str, dict[str, Tensor]]
    values: dict[str, Any]


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def updates(self) -> list[int]:
        """List the updates after which there is a checkpoint, in order of number."""
        matches = (NAME.fullmatch(path.name) for path in self.directory.iterdir())
        return sorted(int(match[1]) for match in matches if match)

    def path(self, update: int) -> Path:
        """Name the checkpoint of an update."""
        return self.directory / f"update-{update:08d}"

    def save(
        self, update: int, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]
    ) -> None:
        """Write a checkpoint and make it durable; one that is there already stays as it is.

        Raises:
            CheckpointError: it could not be written; the older ones are untouched.
        """
        final = self.path(update)
        if final.exists():
            return
        unfinished = final.with_suffix(".tmp")
        try:
            self._require_space(tensors)
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            _write_files(unfinished, tensors, values)
            unfinished.rename(final)
            flush(self.directory)
        except (OSError, SafetensorError) as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise CheckpointError(
                f"{final}: cannot write the checkpoint: {error}; the ones before it are intact, "
                "so make space and run the same command again"
            ) from error

    def prune(self, keep: Collection[int]) -> None:
        """Delete all but some; call it once the newest is durable."""
        for update in self.updates():
            if update not in keep:
                shutil.rmtree(self.path(update))
        for leftover in self.directory.glob("*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)

    def set_aside_after(self, update: int) -> None:
        """Rename the checkpoints after this one, so that a damaged one never counts as newest."""
        for damaged in self.updates():
            if damaged > update:
                path = self.path(damaged)
                shutil.rmtree(path.with_suffix(".damaged"), ignore_errors=True)
                path.rename(path.with_suffix(".damaged"))

    def newest(self) -> tuple[int, Checkpoint, list[str]] | None:
        """Load the newest checkpoint that verifies, and say what is wrong with those after it.

        Returns:
            the update, the checkpoint and the complaints; None where there is no checkpoint.

        Raises:
            CheckpointError: there are checkpoints and none of them verifies.
        """
        complaints: list[str] = []
        for update in reversed(self.updates()):
            try:
                return update, self.load(update), complaints
            except CheckpointError as error:
                complaints.append(str(error))
        if complaints:
            raise CheckpointError(
                f"{self.directory}: no checkpoint is intact ({'; '.join(complaints)}); move the "
                "directory away to start again"
            )
        return None

    def load(self, update: int, *, groups: Sequence[str] | None = None) -> Checkpoint:
        """Verify and load one checkpoint, or some groups of its tensors.

        Raises:
            CheckpointError: a file is missing or is not what was written.
        """
        path = self.path(update)
        manifest = _verified_manifest(path)
        values = json.loads((path / "state.json").read_bytes())
        names = [Path(name).stem for name in manifest["files"] if name.endswith(".safetensors")]
        chosen = names if groups is None else [name for name in names if name in groups]
        return Checkpoint(
            {name: load_file(path / f"{name}.safetensors") for name in chosen}, values
        )

    def _require_space(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        size = sum(t.nbytes for group in tensors.values() for t in group.values())
        free = shutil.disk_usage(self.directory).free
        if free < SPARE_SPACE * size:
            raise OSError(f"it needs {size >> 20} MiB and {free >> 20} MiB are free")


def _write_files(
    directory: Path, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]
) -> None:
    """Write and flush all the files of a checkpoint, the manifest last."""
    for group, named in tensors.items():
        contiguous = {name: tensor.contiguous() for name, tensor in named.items()}
        save_file(contiguous, directory / f"{group}.safetensors")
    (directory / "state.json").write_text(json.dumps(values), encoding="utf-8")
    files = {path.name: _fingerprint(path) for path in sorted(directory.iterdir())}
    manifest = directory / "manifest.json"
    manifest.write_text(
        json.dumps({"format_version": FORMAT_VERSION, "files": files}), encoding="utf-8"
    )
    for path in directory.iterdir():
        flush(path)
    flush(directory)


def _verified_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest and compare every file with it."""
    try:
        manifest: dict[str, Any] = json.loads((path / "manifest.json").read_bytes())
        version, files = manifest["format_version"], manifest["files"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{path}: its manifest cannot be read") from None
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{path}: format {version}; this release reads {FORMAT_VERSION}")
    for name, expected in files.items():
        if not (path / name).is_file():
            raise CheckpointError(f"{path}: {name} is missing")
        if _fingerprint(path / name) != expected:
            raise CheckpointError(f"{path}: {name} is damaged")
    return manifest


def _fingerprint(path: Path) -> dict[str, Any]:
    """Describe the content of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": path.stat().st_size, "sha256": digest}
