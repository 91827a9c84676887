"""Sentence pairs as token ids on disk, read through memory maps.

A store is a directory. `source.tokens` and `target.tokens` hold the ids of all sentences, one
sentence after the other; `source.offsets` and `target.offsets` hold where each sentence begins, and
where the last one ends. `store.json` describes them. It is written last, so that a directory that
has one is complete.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.corpora.store_description import (
    MEND,
    StoredCorpus,
    StoreDescription,
    StoredFile,
    TokenStoreError,
    read_description,
)
from dragoman.durable import checksum

_BLOCK = 1 << 20  # sentences at once, so that temporary arrays stay small


class Sentences:
    """One side of a store: the token ids of its sentences, left on disk until they are read."""

    def __init__(
        self, tokens: npt.NDArray[np.unsignedinteger], offsets: npt.NDArray[np.int64]
    ) -> None:
        self._tokens = tokens
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: int) -> npt.NDArray[np.unsignedinteger]:
        """Return the tokens of one sentence, a view of the file."""
        if not 0 <= index < len(self):
            raise IndexError(f"there is no sentence {index} among {len(self)}")
        return self._tokens[self._offsets[index] : self._offsets[index + 1]]

    def gather(
        self, indices: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.int64]]:
        """Return the tokens of many sentences, one after the other, and the sentences' lengths."""
        starts = self._offsets[indices]
        lengths = self._offsets[indices + 1] - starts
        gathered_starts = lengths.cumsum() - lengths
        positions = np.repeat(starts - gathered_starts, lengths) + np.arange(int(lengths.sum()))
        return self._tokens[positions], lengths

    def lengths(self) -> npt.NDArray[np.uint16]:
        """Return the number of tokens of every sentence."""
        lengths = np.empty(len(self), dtype=np.uint16)
        for start in range(0, len(self), _BLOCK):
            lengths[start : start + _BLOCK] = np.diff(self._offsets[start : start + _BLOCK + 1])
        return lengths


class TokenStore:
    """Sentence pairs on disk; opening takes neither time nor memory, however many there are."""

    def __init__(self, directory: Path, description: StoreDescription) -> None:
        self.directory = directory
        self.description = description
        maps = {file.name: _map(directory / file.name, file) for file in description.files}
        self.sources = Sentences(maps["source.tokens"], maps["source.offsets"])
        self.targets = Sentences(maps["target.tokens"], maps["target.offsets"])

    @classmethod
    def open(cls, directory: Path, *, fingerprint: str) -> "TokenStore":
        """Open a complete store that was made for this fingerprint.

        Raises:
            TokenStoreError: there is none, a part is missing, or it was made from something else.
        """
        description = read_description(directory)
        if description.fingerprint != fingerprint:
            raise TokenStoreError(
                f"{directory}: made from other corpora, cleaning or tokenizers; {MEND}"
            )
        return cls(directory, description)

    def __len__(self) -> int:
        return self.description.pairs

    @property
    def corpora(self) -> tuple[StoredCorpus, ...]:
        """The corpora, in the order of their pairs."""
        return self.description.corpora

    def lengths(self) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
        """Return the number of tokens of each source sentence and of each target sentence."""
        return self.sources.lengths(), self.targets.lengths()

    def verify(self) -> None:
        """Read all files and compare them with their checksums.

        Raises:
            TokenStoreError: a file has changed since it was written.
        """
        for file in self.description.files:
            path = self.directory / file.name
            if checksum(path) != file.sha256:
                raise TokenStoreError(f"{path}: changed since it was written; {MEND}")


def _map(path: Path, file: StoredFile) -> npt.NDArray[Any]:
    """Map a file of integers into memory, read only."""
    size = path.stat().st_size if path.is_file() else 0
    if size != file.num_bytes:
        raise TokenStoreError(f"{path}: has {size} bytes instead of {file.num_bytes}; {MEND}")
    # A plain view: indexing an np.memmap itself costs a Python call.
    return np.memmap(path, dtype=file.dtype, mode="r").view(np.ndarray)
