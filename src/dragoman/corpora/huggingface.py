"""Sentence pairs from Hugging Face data sets, from the hub or from a directory."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from dragoman.corpora.record import sides
from dragoman.corpora.text_file import CorpusError, Refuse, expand, locate

PREFIX = "hf:"

INFO, STATE, SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"
"""Files that `datasets.save_to_disk` leaves in a directory: the first two, or the last."""


def read_hub(
    address: str, languages: tuple[str, str], refuse: Refuse
) -> Iterator[tuple[str, str, int]]:
    """Yield the sides and the number of each record of `hf:NAME[:CONFIG[:SPLIT]]`.

    The default split is "train". The data set is downloaded once, kept in the cache of `datasets`
    and read from there through a memory map. NAME may also be a directory of data files. `refuse`
    is called for each record without two sides.

    Raises:
        CorpusError: the data set, its configuration or its split cannot be loaded.
    """
    name, config, split = _parts(address)
    datasets = _import_datasets(address)
    with _naming(address, datasets):
        rows = datasets.load_dataset(str(expand(name)), config, split=split or "train")
    yield from _sides(rows, address, languages, refuse)


def local_files(address: str) -> Iterator[tuple[str, Path]]:
    """List the data files of `hf:DIRECTORY`, each after a name that begins as the address does.

    They are those of all splits. What is on the hub has none here.

    Raises:
        CorpusError: the data set cannot be loaded.
    """
    name, config, _ = _parts(address)
    path = locate(name).absolute()
    if not path.is_dir():
        return
    datasets = _import_datasets(address)
    with _naming(address, datasets):
        builder = datasets.load_dataset_builder(str(path), config)
    found = {file for files in (builder.config.data_files or {}).values() for file in files}
    for file in sorted(found):
        if Path(file).is_file():  # a configuration may also name files elsewhere
            yield f"{PREFIX}{name}/{os.path.relpath(file, path)}", Path(file)


def _parts(address: str) -> tuple[str, str | None, str]:
    """Split an address into the name, the configuration and the split."""
    name, _, rest = address.removeprefix(PREFIX).partition(":")
    config, _, split = rest.partition(":")
    return name, config or None, split


@contextmanager
def _naming(address: str, datasets: ModuleType) -> Iterator[None]:
    """Name a data set that cannot be loaded, with the reason on one line."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        # RuntimeError: it needs a script
        says_nothing = isinstance(error, datasets.exceptions.DatasetGenerationError)
        reason = (says_nothing and error.__cause__) or error
        raise CorpusError(
            f"{address}: the data set cannot be loaded: {_one_line(reason)}"
        ) from error


def read_directory(
    path: Path, languages: tuple[str, str], refuse: Refuse
) -> Iterator[tuple[str, str, int]]:
    """Yield the sides and the number of each record that `datasets.save_to_disk` wrote.

    `refuse` is called for each record without two sides.

    Raises:
        CorpusError: the directory is not such a data set, is damaged, or holds several splits.
    """
    _refuse_other_directory(path)
    datasets = _import_datasets(str(path))
    names_of_files(path)  # of damaged lists of them, `datasets` says less
    try:
        rows = datasets.load_from_disk(str(path))
    except IndexError:  # what `datasets` raises for a data set saved without rows
        raise CorpusError(f"{path}: the data set is empty") from None
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path}: the data set cannot be read: {_one_line(error)}") from error
    if isinstance(rows, datasets.DatasetDict):
        splits = " or ".join(str(path / split) for split in rows)
        raise CorpusError(f"{path}: a data set with several splits; name one, {splits}")
    yield from _sides(rows, str(path), languages, refuse)


def names_of_files(path: Path) -> list[str]:
    """Name the files of a directory that `read_directory` opens; there may be others beside them.

    Raises:
        CorpusError: the directory is not a saved data set, or is damaged.
    """
    _refuse_other_directory(path)
    if (path / SPLITS).is_file() and not (path / STATE).is_file():  # refused when it is read
        return [SPLITS]
    try:
        files = json.loads((path / STATE).read_bytes())["_data_files"]
        return [INFO, STATE, *(str(file["filename"]) for file in files)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{path / STATE}: missing or damaged; save the data set again") from error


def _refuse_other_directory(path: Path) -> None:
    """Refuse a directory that is not a saved data set."""
    if not any((path / mark).is_file() for mark in (INFO, SPLITS)):
        raise CorpusError(
            f"{path}: a directory stands where a file or a saved Hugging Face data set is "
            "expected; name the files in it, or, if they are those of a data set, such as "
            f"Parquet, write {PREFIX}{path}"
        )


def _sides(
    rows: Iterable[object], place: str, languages: tuple[str, str], refuse: Refuse
) -> Iterator[tuple[str, str, int]]:
    """Take the two sides out of each row, and refuse a data set without rows."""
    line = 0
    for line, row in enumerate(rows, start=1):
        try:
            source, target = sides(row, languages, place=f"{place}:{line}")
        except CorpusError as error:
            refuse(error)
        else:
            yield source, target, line
    if line == 0:
        raise CorpusError(f"{place}: the data set is empty")


def _import_datasets(place: str) -> ModuleType:
    """Import the library, which is an extra because it is large."""
    try:
        import datasets
    except ImportError:
        raise CorpusError(
            f'{place}: a Hugging Face data set needs pip install --editable ".[huggingface]" where '
            "Dragoman was cloned"
        ) from None
    module: ModuleType = datasets
    return module


def _one_line(error: BaseException) -> str:
    """Return a message that may have many lines, or the name of an error without a message."""
    return " ".join(str(error).split()) or type(error).__name__
