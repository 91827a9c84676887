"""A set of texts that fits in memory for a hundred million of them."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


class SeenTexts:
    """Remembers which texts came before, in eight bytes each, and up to 16 while it grows.

    A text is kept as a 64-bit hash. Among a hundred million texts, the chance that any two that
    differ share one is 3 in 10,000. The hashes are kept as sorted runs, each at most half as long
    as the one before, as in a log-structured merge tree (O'Neil et al. 1996): there are few runs to
    search, and each hash is sorted only a few times.
    """

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def add(self, texts: Sequence[str]) -> list[bool]:
        """Add texts, and say for each whether it is new, also among those before it in `texts`."""
        unique, first = np.unique(hash_texts(texts), return_index=True)
        is_new = np.ones(len(unique), dtype=bool)
        for run in self._runs:
            places = np.searchsorted(run, unique).clip(max=len(run) - 1)
            is_new &= run[places] != unique
        self._append(unique[is_new])
        answer = np.zeros(len(texts), dtype=bool)
        answer[first[is_new]] = True
        return answer.tolist()

    def hashes(self) -> np.ndarray:
        """Return the hashes of all texts."""
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._runs])

    def _append(self, run: np.ndarray) -> None:
        """Append a sorted run, merged with the last ones while they are of similar length."""
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
        if len(run):
            run.sort()
            self._runs.append(run)


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """Return a 64-bit hash of each text; the same on every machine."""
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
