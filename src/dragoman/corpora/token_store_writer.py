"""Write a token store block by block, in constant memory."""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.corpora.store_description import (
    FORMAT_VERSION,
    OFFSET_DTYPE,
    STORE_DESCRIPTION_NAME,
    TOKEN_DTYPES,
    StoredCorpus,
    StoreDescription,
    StoredFile,
    TokenStoreError,
    write_description,
)
from dragoman.durable import flush


class TokenStoreWriter:
    """Write a token store, block by block.

    Use it as a context manager: the store appears when the block ends without an error. Otherwise
    the temporary files are removed, and a store that was there before is left as it was.

        with TokenStoreWriter(directory, vocab_size=8000, fingerprint=f, max_length=256) as writer:
            writer.start_corpus("books", weight=1.0)
            writer.add([[5, 6], [7]], [[8], [9, 4]])

    Args:
        directory: where the store will be; made if it is missing.
        vocab_size: of the larger vocabulary; a token takes two bytes up to 65,536 and four above.
        fingerprint: a checksum of all that determines the contents, which `TokenStore.open` needs.
        max_length: pairs with more tokens than this on either side are counted and left out.
    """

    def __init__(
        self, directory: Path, *, vocab_size: int, fingerprint: str, max_length: int
    ) -> None:
        self._directory = directory
        self._fingerprint = fingerprint
        self._max_length = max_length
        self._corpora: list[StoredCorpus] = []
        directory.mkdir(parents=True, exist_ok=True)
        self._source = _Side(directory, "source", vocab_size)
        self._target = _Side(directory, "target", vocab_size)

    def start_corpus(self, name: str, weight: float) -> None:
        """Assign the pairs that follow to a corpus that an epoch sees `weight` times."""
        start = self._corpora[-1].stop if self._corpora else 0
        corpus = StoredCorpus(name=name, start=start, stop=start, weight=weight, too_long=0)
        self._corpora.append(corpus)

    def add(self, source_ids: Sequence[Sequence[int]], target_ids: Sequence[Sequence[int]]) -> None:
        """Append pairs to the corpus that was started last; ids without BOS and EOS.

        Raises:
            ValueError: the sides differ in number of sentences, or an id is not in the vocabulary.
        """
        kept = [
            pair
            for pair in zip(source_ids, target_ids, strict=True)
            if max(map(len, pair)) <= self._max_length
        ]
        self._source.append([source for source, _ in kept])
        self._target.append([target for _, target in kept])
        corpus = self._corpora[-1]
        self._corpora[-1] = replace(
            corpus,
            stop=corpus.stop + len(kept),
            too_long=corpus.too_long + len(source_ids) - len(kept),
        )

    def __enter__(self) -> "TokenStoreWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        files = self._source.files + self._target.files
        try:
            if kind is None:
                self._commit(files)
        finally:
            for file in files:
                file.discard()

    def _commit(self, files: list["_IntegerFile"]) -> None:
        """Put the files in place, `store.json` last; each step is on disk before the next."""
        if not all(file.count for file in files):
            raise TokenStoreError(f"{self._directory}: no sentence pair is left to store")
        description = StoreDescription(
            format_version=FORMAT_VERSION,
            fingerprint=self._fingerprint,
            max_length=self._max_length,
            pairs=self._corpora[-1].stop,
            corpora=tuple(self._corpora),
            files=tuple(file.finish() for file in files),
        )
        path = self._directory / STORE_DESCRIPTION_NAME
        path.unlink(missing_ok=True)
        flush(self._directory)
        for file in files:
            file.publish()
        flush(self._directory)
        write_description(self._directory, description)
        flush(self._directory)


class _Side:
    """The two files of one side of the store."""

    def __init__(self, directory: Path, side: str, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._end = 0
        self._tokens = _IntegerFile(
            directory / f"{side}.tokens", TOKEN_DTYPES[vocab_size > 1 << 16]
        )
        self._offsets = _IntegerFile(directory / f"{side}.offsets", OFFSET_DTYPE)
        self._offsets.write(np.zeros(1, dtype=np.int64))

    @property
    def files(self) -> list["_IntegerFile"]:
        return [self._tokens, self._offsets]

    def append(self, sentences: list[Sequence[int]]) -> None:
        """Append sentences to both files."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        tokens = np.fromiter(chain.from_iterable(sentences), dtype=np.int64)
        if tokens.size and not 0 <= tokens.min() <= tokens.max() < self._vocab_size:
            raise ValueError(
                f"token ids from {tokens.min()} to {tokens.max()} are outside the vocabulary of"
                f" {self._vocab_size}"
            )
        self._tokens.write(tokens)
        self._offsets.write(self._end + lengths.cumsum())
        self._end += len(tokens)


class _IntegerFile:
    """A file that has a temporary name until it is published."""

    def __init__(self, path: Path, dtype: str) -> None:
        self._path = path
        self._temporary = path.with_name(path.name + ".tmp")
        self._dtype = dtype
        self._stream = self._temporary.open("wb")
        self._sha256 = hashlib.sha256()
        self.count = 0

    def write(self, integers: npt.NDArray[np.int64]) -> None:
        """Append integers."""
        data = integers.astype(self._dtype).tobytes()
        self._stream.write(data)
        self._sha256.update(data)
        self.count += len(integers)

    def finish(self) -> StoredFile:
        """Flush everything written to the disk, and describe it."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        digest = self._sha256.hexdigest()
        return StoredFile(name=self._path.name, dtype=self._dtype, count=self.count, sha256=digest)

    def publish(self) -> None:
        """Give the file its name."""
        self._temporary.replace(self._path)

    def discard(self) -> None:
        """Close the file, even without room for its end; remove it if it was not published."""
        with contextlib.suppress(OSError):  # the write that failed has reported it
            self._stream.close()
        self._temporary.unlink(missing_ok=True)
