"""Which run a directory belongs to: one recipe, and one process at a time."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tomli_w
from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open

from dragoman.config import from_table, read_table, to_table
from dragoman.corpora.fingerprint import fingerprint_corpus
from dragoman.corpora.text_file import CorpusError
from dragoman.durable import require_utf8, write_atomically
from dragoman.errors import DragomanError, UsageError
from dragoman.model_directory import DESCRIPTION_NAME, WEIGHTS_NAME, ModelDirectory
from dragoman.model_directory.description import FINISHED_FILE
from dragoman.pipeline.initial_weights import BEGINNING
from dragoman.pipeline.model_card import CARD
from dragoman.pipeline.report import REPORT
from dragoman.recipe import Recipe, differences
from dragoman.training.checkpoint import Checkpoints
from dragoman.training.distributed import agree, rank, text_of_first
from dragoman.training.journal import JOURNAL

RECIPE_FILE = "recipe.toml"
LOCK_FILE = ".lock"
"""Begins with the id of the process that holds it. Where files cannot be locked, `filelock` writes
more there, which tells it whether that process has died."""

MARK = "# The recipe of the run in this directory, written by dragoman train.\n"
"""The first line of `recipe.toml`, which tells it from one that a person wrote."""

MOST_NAMED = 5
"""How many changed settings are named; there are twenty when sizes of one's own replace a plan."""

WRITTEN = (
    "data",
    BEGINNING,
    DESCRIPTION_NAME,
    WEIGHTS_NAME,
    CARD,
    "checkpoints",
    JOURNAL,
    REPORT,
)
"""What a run overwrites."""

MAY_DIFFER = ("licence", "training.compile", "training.device", "training.keep_checkpoints")
"""Settings that each process of a run may have for itself."""

MAY_CHANGE = (*MAY_DIFFER, "training.parallelism")
"""Settings that do not affect the weights, so a run can continue with other values."""


CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""A full disk, a quota that is used up, a file that may not grow, and a disk that fails."""

NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Somebody else's directory, one of the system, and a disk that is only read."""


class RunError(DragomanError):
    """A run cannot be started or continued in this directory."""


def make_directory(directory: Path) -> None:
    """Make the directory of a run and its parents.

    Raises:
        RunError: it cannot be made.
        UsageError: its name is not UTF-8.
    """
    require_utf8(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError:  # what /proc says, though nothing is missing
        raise RunError(f"{directory}: cannot be written: no directory can be made there") from None
    except OSError as error:
        if error.errno not in NOT_ALLOWED:
            raise
        raise RunError(
            f"{directory}: cannot be written: {error.strerror}; name another directory with -o"
        ) from error


@contextmanager
def only_one(directory: Path) -> Iterator[None]:
    """Keep a second training out of a directory; the lock dies with its process."""
    if rank() > 0:
        yield
        return
    place = directory / LOCK_FILE
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        number = _holder(place)
        raise RunError(
            f"{directory}: another process {f'({number}) ' if number.isdigit() else ''}is training "
            "there; wait or stop it"
        ) from None
    try:
        if _holder(place) != str(os.getpid()):
            place.write_text(str(os.getpid()), encoding="ascii")
        yield
    finally:
        lock.release()


def _holder(lock: Path) -> str:
    """Read which process holds a lock, or held it last."""
    return lock.read_text(encoding="ascii", errors="replace").partition("\n")[0]


@contextmanager
def named_when_unwritable(directory: Path) -> Iterator[None]:
    """Say which directory cannot be written, unless the error names a file somewhere else."""
    try:
        yield
    except OSError as error:
        if error.errno not in CANNOT_WRITE or not _is_within(directory, error.filename):
            raise
        raise RunError(
            f"{directory}: cannot be written: {error.strerror}; what is saved there is intact, so "
            "make space or repair the disk, and run the same command again"
        ) from error


def _is_within(directory: Path, named: object) -> bool:
    """Tell whether the file that an error names is in a directory; most errors name none."""
    if not isinstance(named, str):
        return True
    return Path(os.path.realpath(named)).is_relative_to(os.path.realpath(directory))


def claim(recipe: Recipe, directory: Path) -> None:
    """Write the recipe into a directory that is new, or whose run it is.

    Until there is a checkpoint or a model, another recipe replaces the old one, because nothing is
    lost.
    """
    check_belongs(recipe, directory)
    write_atomically(directory / RECIPE_FILE, MARK + tomli_w.dumps(to_table(recipe)))


def check_belongs(recipe: Recipe, directory: Path) -> None:
    """Make sure that a directory is new, or that its run is that of a recipe and can go on.

    Raises:
        RunError: it is not, or cannot.
    """
    check_free(directory)
    if not has_weights(directory):
        return
    if changed := _refused_changes(_read_recipe(directory / RECIPE_FILE), to_table(recipe)):
        more = f"; and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        raise RunError(
            f"{directory}: it holds the run of another recipe ({'; '.join(changed[:MOST_NAMED])}"
            f"{more}); undo the change, or name another directory with -o"
        )
    if not has_trained(directory):
        raise RunError(
            f"{directory}: there are no checkpoints to go on from, and to begin anew would replace "
            f"{WEIGHTS_NAME}; bring them back, remove it, or name another directory with -o"
        )


def check_alike(recipe: Recipe) -> None:
    """Make sure that all processes of a run train the same recipe.

    Otherwise they would add up gradients of unrelated pairs, or wait for each other forever.

    Raises:
        RunError: one of them has another recipe than the first; it is raised on all of them.
    """
    ours = json.dumps(to_table(recipe))
    first = text_of_first(ours)
    changed = differences(json.loads(first), json.loads(ours)).keys() - MAY_DIFFER
    if not agree(bool(changed)):
        return
    if changed:
        raise RunError(
            f"process {rank()} has another recipe than process 0, in {', '.join(sorted(changed))}; "
            "start the same command with the same recipe on each machine"
        )
    raise RunError(
        "another process of this training has another recipe; its own message names what differs"
    )


def check_learnt(recipe: Recipe, directory: Path) -> None:
    """Make sure that a finished run has learnt from its text as it is now.

    Text that is gone is no obstacle: nothing more is learnt from it.

    Raises:
        RunError: a file has changed.
    """
    recorded = ModelDirectory(directory).description.training.get("sha256", {})
    corpora = recipe.corpora
    found: dict[str, str] = {}
    for corpus in corpora.all:
        with suppress(CorpusError):
            found |= fingerprint_corpus(corpus)
    if changed := [name for name in found if recorded.get(name, found[name]) != found[name]]:
        raise RunError(
            f"{directory}: this run is finished, and {' and '.join(changed)} changed since; name "
            "another directory with -o to train on the new text"
        )


def check_free(directory: Path) -> None:
    """Make sure that a directory is that of a run, or has nothing that a run would overwrite.

    Raises:
        RunError: there is something that no run has made.
    """
    if _is_of_a_run(directory / RECIPE_FILE):
        return
    if taken := [name for name in (RECIPE_FILE, *WRITTEN) if (directory / name).exists()]:
        raise RunError(
            f"{directory}: {taken[0]} was not made by a run, and training would overwrite it; "
            "name an empty directory with -o"
        )


def _read_recipe(path: Path) -> dict[str, Any]:
    """Read the recipe of a run; settings that are newer than the run have their defaults."""
    table = read_table(path)
    try:
        return to_table(from_table(Recipe, table))
    except UsageError:  # of a version that knew other settings
        return table


def _is_of_a_run(path: Path) -> bool:
    """Tell the recipe that a run wrote from any other file, or none."""
    return path.is_file() and path.read_bytes().startswith(MARK.encode())


def has_trained(directory: Path) -> bool:
    """Tell whether something has been trained with the recipe."""
    return _has_checkpoints(directory) or (directory / FINISHED_FILE).exists()


def _has_checkpoints(directory: Path) -> bool:
    checkpoints = directory / "checkpoints"
    return checkpoints.is_dir() and bool(Checkpoints(checkpoints).updates())


def reopen_without_model(directory: Path) -> str | None:
    """Let a finished run go on if its model has been lost; say so, or None if it is there.

    Raises:
        RunError: there are no checkpoints either.
    """
    finished = directory / FINISHED_FILE
    lost = [name for name in (DESCRIPTION_NAME, WEIGHTS_NAME) if not _is_whole(directory / name)]
    if not lost or not finished.exists():
        return None
    if not _has_checkpoints(directory):
        raise RunError(
            f"{directory}: {lost[0]} is missing or damaged, and there are no checkpoints to "
            "make it from again; bring a copy back, or name another directory with -o"
        )
    finished.unlink()
    return f"{directory}: {lost[0]} is missing or damaged; the model is made again from checkpoints"


def _is_whole(path: Path) -> bool:
    """Tell whether a file of a model is there and not empty, and of weights all bytes."""
    if not path.exists() or not path.stat().st_size:
        return False
    if path.name == WEIGHTS_NAME:
        try:
            safe_open(path, framework="numpy")  # its size is that which its header says
        except SafetensorError:
            return False
    return True


def has_weights(directory: Path) -> bool:
    """Tell whether a new beginning would lose weights that the run in a directory has made.

    Whoever deletes checkpoints, or leaves them out of a copy, keeps the model.
    """
    return has_trained(directory) or (directory / WEIGHTS_NAME).exists()


def _refused_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """List the differences that a run cannot continue with."""
    judges = new["training"]["metric"] != "loss"  # the evaluation decides which weights are best
    return [
        f"{key}: {change}"
        for key, change in differences(old, new).items()
        if key not in MAY_CHANGE and (judges or not key.startswith("evaluation."))
    ]
