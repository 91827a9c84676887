"""A batch of sentence pairs: rectangles of token ids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FILLER = -1
"""The index of a row that stands for no pair."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Which rows of each batch a process takes: every `world_size`-th, from `rank` on."""

    rank: int
    world_size: int

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"rank = {self.rank} should be between 0 and {self.world_size - 1}")

    @property
    def rows(self) -> slice:
        """The rows of a batch, as an index."""
        return slice(self.rank, None, self.world_size)


ALL = Part(rank=0, world_size=1)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Sentence pairs as two rectangles of token ids, one row per pair."""

    source: npt.NDArray[np.int64]
    """(rows, source_length): tokens, EOS, padding."""

    target: npt.NDArray[np.int64]
    """(rows, target_length): BOS, tokens, EOS, padding. The decoder sees all columns but the last
    and predicts all columns but the first."""

    indices: npt.NDArray[np.int64]
    """(rows,): which pairs of the token store these are; -1 is a filler row."""

    pad_id: int
    """The token id that marks padding, on both sides."""

    @property
    def num_target_tokens(self) -> int:
        """Tokens to predict: the target's tokens and its EOS, no padding."""
        return int(np.count_nonzero(self.target[:, 1:] != self.pad_id))

    def shard(self, part: Part) -> "Batch":
        """Return the rows of one process.

        Together, the shards of all ranks are the batch: no row is lost or duplicated. When the loss
        is summed over ranks and divided once by the target tokens of the whole update, the update
        is the one that a single process computes on the same batch.

        A rank for which no row is left gets a filler row, so that all ranks run the same number of
        passes. Its target is BOS and padding: there is nothing to predict, and it adds no loss.
        """
        if part.rank >= len(self.indices):
            return self._filler()
        return Batch(
            source=self.source[part.rows],
            target=self.target[part.rows],
            indices=self.indices[part.rows],
            pad_id=self.pad_id,
        )

    def _filler(self) -> "Batch":
        """Return one row with a source to look at and nothing to predict."""
        target = np.full_like(self.target[:1], self.pad_id)
        target[:, 0] = self.target[0, 0]
        indices = np.array([FILLER], dtype=np.int64)
        return Batch(source=self.source[:1], target=target, indices=indices, pad_id=self.pad_id)


def pad(
    tokens: npt.NDArray[np.integer],
    lengths: npt.NDArray[np.integer],
    *,
    width: int,
    pad_id: int,
    eos_id: int,
    bos_id: int | None = None,
) -> npt.NDArray[np.int64]:
    """Lay sentences out as the rows of a rectangle: BOS (if given), tokens, EOS, padding.

    Args:
        tokens: the tokens of all sentences, one sentence after the other.
        lengths: (rows,) how many of them belong to each sentence.
        width: columns of the rectangle, at least the longest sentence and its marks.
        pad_id: fills a row after its EOS.
        eos_id: ends each sentence.
        bos_id: begins each sentence, if given.

    Returns:
        (rows, width) token ids.
    """
    rectangle = np.full((len(lengths), width), pad_id, dtype=np.int64)
    first = 0 if bos_id is None else 1
    if bos_id is not None:
        rectangle[:, 0] = bos_id
    rectangle[:, first:][np.arange(width - first) < lengths[:, None]] = tokens
    rectangle[np.arange(len(lengths)), first + lengths.astype(np.int64)] = eos_id
    return rectangle
