"""What a token store says about itself: `store.json`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.config import from_table, to_table
from dragoman.durable import write_atomically
from dragoman.errors import DragomanError, UsageError

FORMAT_VERSION = 1
STORE_DESCRIPTION_NAME = "store.json"
FILE_NAMES = ("source.tokens", "source.offsets", "target.tokens", "target.offsets")
TOKEN_DTYPES = ("<u2", "<u4")
OFFSET_DTYPE = "<i8"
MEND = "delete the directory, and it is made again"


class TokenStoreError(DragomanError):
    """A token store is missing, damaged, made for something else, or would be empty."""


@dataclass(frozen=True, kw_only=True)
class StoredCorpus:
    """A corpus: pairs `start` to `stop` (excluded) of the store."""

    name: str
    start: int
    stop: int
    weight: float
    """How many times an epoch sees each pair."""
    too_long: int
    """Pairs left out, because a side has more than `max_length` tokens."""


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file of integers."""

    name: str
    dtype: str
    """In numpy's notation, byte order included."""
    count: int
    """Integers in the file."""
    sha256: str

    @property
    def num_bytes(self) -> int:
        """Bytes that the file should have."""
        return self.count * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, kw_only=True)
class StoreDescription:
    """The contents of `store.json`."""

    format_version: int
    fingerprint: str
    """Checksum of all that determines the contents: corpora, cleaning, tokenizers, `max_length`."""
    max_length: int
    """Maximum number of tokens on either side of a pair."""
    pairs: int
    corpora: tuple[StoredCorpus, ...]
    files: tuple[StoredFile, ...]

    @property
    def num_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.num_bytes for file in self.files)


def read_description(directory: Path) -> StoreDescription:
    """Read `store.json` of a store.

    Raises:
        TokenStoreError: there is none, it is damaged, or it comes from another release.
    """
    path = directory / STORE_DESCRIPTION_NAME
    try:
        table: Any = json.loads(path.read_text(encoding="utf-8"))
        version = table.get("format_version")
    except FileNotFoundError:
        raise TokenStoreError(f"{directory}: there is no complete token store here") from None
    except (ValueError, AttributeError) as error:  # not UTF-8, not JSON, or no object
        raise TokenStoreError(f"{path}: damaged; {MEND}") from error
    if version != FORMAT_VERSION:
        raise TokenStoreError(
            f"{path}: has format version {version}, and this release reads {FORMAT_VERSION}; {MEND}"
        )
    try:
        description = from_table(StoreDescription, table)
    except UsageError as error:
        raise TokenStoreError(f"{path}: damaged: {error}; {MEND}") from error
    if not _is_consistent(description):
        raise TokenStoreError(f"{path}: damaged; {MEND}")
    return description


def write_description(directory: Path, description: StoreDescription) -> None:
    """Write `store.json`, completely or not at all."""
    text = json.dumps(to_table(description), indent=2, ensure_ascii=False)
    write_atomically(directory / STORE_DESCRIPTION_NAME, text)


def _is_consistent(description: StoreDescription) -> bool:
    """Tell whether the four files are described and agree with the number of pairs."""
    tokens, offsets = description.files[::2], description.files[1::2]
    return (
        tuple(file.name for file in description.files) == FILE_NAMES
        and all(file.dtype in TOKEN_DTYPES for file in tokens)
        and all(file.dtype == OFFSET_DTYPE for file in offsets)
        and all(file.count == description.pairs + 1 for file in offsets)
    )
