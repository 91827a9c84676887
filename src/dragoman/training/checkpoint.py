"""Complete training states on disk: written completely or not at all, and verified before use.

A checkpoint is a directory `update-00001000` of safetensors files and one JSON file. It is
written as `update-00001000.tmp`: first its files, then a manifest with the size and the SHA-256 of
each. All are flushed to the disk, and only then does the directory get its name. A crash at any
moment leaves earlier checkpoints as they were. Nothing in a checkpoint is a pickle.
"""

import json
import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.durable import checksum, flush
from dragoman.errors import DragomanError

NAME = re.compile(r"update-([0-9]{8,})")
STATE, MANIFEST = "state.json", "manifest.json"
FORMAT_VERSION = 1
SPARE_SPACE = 1.2
"""Free space that a save asks for, as a multiple of the checkpoint's size."""


class CheckpointError(DragomanError):
    """A checkpoint cannot be written or read."""


@dataclass(frozen=True)
class Checkpoint:
    """What was saved: groups of tensors by name, and plain values."""

    tensors: dict[str, dict[str, Tensor]]
    values: dict[str, Any]


Objection = Callable[[Checkpoint], str | None]
"""Says why an intact checkpoint is of no use to a run; None if it is of use."""


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def updates(self) -> list[int]:
        """List the updates that have a checkpoint, in ascending order."""
        matches = (NAME.fullmatch(path.name) for path in self.directory.iterdir())
        return sorted(int(match[1]) for match in matches if match)

    def path(self, update: int) -> Path:
        """Name the checkpoint of an update."""
        return self.directory / f"update-{update:08d}"

    def save(
        self, update: int, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]
    ) -> None:
        """Write a checkpoint and make it durable; an existing one stays as it is.

        Raises:
            CheckpointError: it could not be written; the older ones are untouched.
        """
        final = self.path(update)
        if final.exists():
            return
        self.require_space(sum(t.nbytes for group in tensors.values() for t in group.values()))
        unfinished = final.with_suffix(".tmp")
        try:
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            _write_files(unfinished, tensors, values)
            unfinished.rename(final)
            flush(self.directory)
        except (OSError, SafetensorError) as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise CheckpointError(
                f"{final}: cannot write the checkpoint: {error}; the ones before it are intact, "
                "so make space or repair the disk, and run the same command again"
            ) from error

    def prune(self, keep: Collection[int]) -> None:
        """Delete all checkpoints but these; call it once the newest is durable."""
        for update in self.updates():
            if update not in keep:  # half of a checkpoint never has the name of a whole one
                path = self.path(update)
                path.rename(path.with_suffix(".tmp"))
        self._remove_halves()

    def _remove_halves(self) -> None:
        for half in self.directory.glob("*.tmp"):
            shutil.rmtree(half, ignore_errors=True)

    def go_back_to(self, update: int) -> None:
        """Rename the checkpoints after this one, so that a damaged one never counts as newest.

        Half-written checkpoints that a kill has left are deleted.
        """
        for damaged in self.updates():
            if damaged > update:
                path = self.path(damaged)
                shutil.rmtree(path.with_suffix(".damaged"), ignore_errors=True)
                path.rename(path.with_suffix(".damaged"))
        self._remove_halves()

    def newest(
        self, objection: Objection = lambda checkpoint: None
    ) -> tuple[int, Checkpoint, list[str]] | None:
        """Load the newest checkpoint that can be used, and say what is wrong with those after it.

        Args:
            objection: Called with each checkpoint that verifies.

        Returns:
            the update, the checkpoint and the complaints; None where there is no checkpoint.

        Raises:
            CheckpointError: there are checkpoints and none of them can be used.
        """
        complaints: list[str] = []
        for update in reversed(self.updates()):
            try:
                checkpoint = self.load(update)
            except CheckpointError as error:
                complaints.append(str(error))
                continue
            if not (reason := objection(checkpoint)):
                return update, checkpoint, complaints
            complaints.append(f"{self.path(update)}: {reason}")
        if complaints:
            raise CheckpointError(
                f"{self.directory}: no checkpoint can be used ({'; '.join(complaints)}); bring a "
                "copy back, or train in another directory (-o) to start again"
            )
        return None

    def load(self, update: int, *, groups: Sequence[str] | None = None) -> Checkpoint:
        """Verify and load one checkpoint, or some groups of its tensors.

        Raises:
            CheckpointError: a file is missing, is not what was written, or cannot be read.
        """
        path = self.path(update)
        files = _verified_files(path)
        names = [name.removesuffix(".safetensors") for name in files if name != STATE]
        chosen = names if groups is None else [name for name in names if name in groups]
        try:
            values = json.loads((path / STATE).read_bytes())
            tensors = {name: load_file(path / f"{name}.safetensors") for name in chosen}
        except (OSError, ValueError, RecursionError, SafetensorError) as error:
            raise CheckpointError(f"{path}: cannot be read: {error}") from error
        return Checkpoint(tensors, values)

    def require_space(self, size: int) -> None:
        """Refuse to go on if there is no space for a checkpoint of this many bytes.

        Raises:
            CheckpointError: less is free.
        """
        free = shutil.disk_usage(self.directory).free
        if free < SPARE_SPACE * size:
            raise CheckpointError(
                f"{self.directory}: a checkpoint needs {SPARE_SPACE * size / 2**20:.1f} MiB and "
                f"{free / 2**20:.1f} MiB are free; make space and run the same command again"
            )


def misfit(
    expected: Mapping[str, Mapping[str, tuple[int, ...]]],
    found: Mapping[str, Mapping[str, Tensor]],
) -> str | None:
    """Name a tensor that is missing, unexpected or of another shape, if there is one.

    Args:
        expected: Groups of shapes by name.
        found: Groups of tensors by name.
    """
    for group in sorted(expected.keys() | found.keys()):
        shapes = expected.get(group, {})
        tensors = found.get(group, {})
        for name in sorted(shapes.keys() | tensors.keys()):
            if name not in tensors:
                return f"{group} lacks {name}"
            if name not in shapes:
                return f"{group} has {name}, which is unknown here"
            if (shape := tuple(tensors[name].shape)) != shapes[name]:
                return f"{name} of {group} has shape {list(shape)} instead of {list(shapes[name])}"
    return None


def _write_files(
    directory: Path, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]
) -> None:
    """Write all the files of a checkpoint, the manifest last, and flush them."""
    for group, named in tensors.items():
        contiguous = {name: tensor.contiguous() for name, tensor in named.items()}
        save_file(contiguous, directory / f"{group}.safetensors")
    (directory / STATE).write_text(json.dumps(values), encoding="utf-8")
    files = {path.name: _fingerprint(path) for path in sorted(directory.iterdir())}
    manifest = directory / MANIFEST
    manifest.write_text(
        json.dumps({"format_version": FORMAT_VERSION, "files": files}), encoding="utf-8"
    )
    for path in directory.iterdir():
        flush(path)
    flush(directory)


def _verified_files(path: Path) -> list[str]:
    """Compare every file of a checkpoint with its manifest, and list them."""
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        version, files = manifest["format_version"], dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(f"{path}: its manifest cannot be read") from None
    if version != FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: format {version}; this release reads {FORMAT_VERSION}, so go on with the "
            "release that wrote it"
        )
    for name, expected in {STATE: None, **files}.items():
        if _fingerprint(path / name) != expected:
            raise CheckpointError(f"{path}: {name} is damaged")
    return list(files)


def _fingerprint(path: Path) -> dict[str, Any]:
    """Describe the content of a file."""
    try:
        return {"size": path.stat().st_size, "sha256": checksum(path)}
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from error
