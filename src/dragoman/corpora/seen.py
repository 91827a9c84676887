"""A set of sentence pairs that fits in memory for a hundred million of them."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

GROWTH = 1.125
"""The factor by which the array grows when it is full."""

FIRST_CAPACITY = 2**16


class SeenPairs:
    """Remembers which pairs came before, in eight bytes per pair.

    A pair is kept as a 64-bit hash. Among a hundred million pairs, the chance that any two that
    differ share one is 3 in 10,000. The hashes are kept in one array as sorted runs, each at most
    half as long as the one before, as in a log-structured merge tree (O'Neil et al. 1996): there
    are few runs to search, and each hash is sorted only a few times.
    """

    def __init__(self) -> None:
        self._hashes = np.empty(FIRST_CAPACITY, dtype=np.uint64)
        self._starts: list[int] = []
        self._size = 0

    def add(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Add pairs, and say for each whether it is new, also among those before it in `pairs`."""
        hashes = hash_texts([f"{len(source)} {source}{target}" for source, target in pairs])
        unique, first = np.unique(hashes, return_index=True)
        is_new = np.ones(len(unique), dtype=bool)
        for start, end in zip(self._starts, [*self._starts[1:], self._size], strict=False):
            is_new &= ~_contains(self._hashes[start:end], unique)
        self._append(unique[is_new])
        answer = np.zeros(len(hashes), dtype=bool)
        answer[first[is_new]] = True
        return answer.tolist()

    def _append(self, run: np.ndarray) -> None:
        """Append a sorted run, and merge the last runs while they are of similar length."""
        if len(run) == 0:
            return
        end = self._size + len(run)
        if end > len(self._hashes):
            # realloc moves large blocks without a second copy; no view outlives a method.
            self._hashes.resize(max(end, int(len(self._hashes) * GROWTH)), refcheck=False)
        self._hashes[self._size : end] = run
        self._starts.append(self._size)
        self._size = end
        while len(self._starts) > 1 and self._is_short(self._starts[-2], self._starts[-1]):
            self._starts.pop()
        self._hashes[self._starts[-1] : end].sort()

    def _is_short(self, start: int, end: int) -> bool:
        """Say whether a run is shorter than twice all that follows it."""
        return end - start < 2 * (self._size - end)


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """Return a 64-bit hash of each text; the same on every machine."""
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def distinct(blocks: list[np.ndarray]) -> np.ndarray:
    """Sort hashes, each once, as `np.unique` does, in half the memory: 18 bytes per hash.

    Args:
        blocks: At least one; the list is emptied, so that its arrays can be freed.
    """
    hashes = np.concatenate(blocks)
    blocks.clear()
    hashes.sort()
    is_first = np.ones(len(hashes), dtype=bool)
    np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:])
    return hashes[is_first]


def _contains(run: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Say of each hash whether a sorted, non-empty run has it."""
    places = np.searchsorted(run, hashes)
    return run[np.minimum(places, len(run) - 1)] == hashes
