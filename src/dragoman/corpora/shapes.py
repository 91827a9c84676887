"""A few shapes of batches that hold all sentence pairs with little padding.

Compiled kernels, CUDA graphs and oneDNN primitives are prepared once per shape, so batches should
come in few shapes. With few shapes, batches hold padding, so the shapes should follow the lengths
that actually occur. `choose_shapes` grows a k-d tree over (source length, target length), always
cutting where that removes the most padding, until too little padding is left to matter.

Lengths of sentences count only tokens. Lengths of shapes count columns of `Batch.source` (tokens
and EOS) and of `Batch.target` (BOS, tokens and EOS). Cells are what the model computes on: the
columns of the source, and all but one of the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.token_store import TokenStore

_BLOCK = 1 << 20  # pairs at once, so that temporary arrays stay small
_ROW_MULTIPLE = 8  # matrix units work on multiples of eight


@dataclass(frozen=True)
class Shape:
    """The size of a full micro-batch."""

    rows: int
    source_length: int
    target_length: int

    @property
    def cells_per_row(self) -> int:
        """Positions that the encoder and the decoder compute for one pair."""
        return self.source_length + self.target_length - 1


def length_histogram(store: TokenStore) -> npt.NDArray[np.float64]:
    """Count how often an epoch sees each (source length, target length).

    Returns:
        (longest source + 1, longest target + 1): pairs per epoch, corpus weights included.
    """
    source_lengths, target_lengths = store.lengths()
    height, width = int(source_lengths.max()) + 1, int(target_lengths.max()) + 1
    histogram = np.zeros(height * width)
    for corpus in store.corpora:
        for start in range(corpus.start, corpus.stop, _BLOCK):
            block = slice(start, min(start + _BLOCK, corpus.stop))
            cell = source_lengths[block].astype(np.int64) * width + target_lengths[block]
            histogram += corpus.weight * np.bincount(cell, minlength=height * width)
    return histogram.reshape(height, width)


def choose_shapes(histogram: npt.NDArray[np.float64], config: BatchingConfig) -> tuple[Shape, ...]:
    """Choose the shapes of batches; a pure function of its arguments.

    Args:
        histogram: pairs by (source length, target length), as returned by `length_histogram`.
        config: how much padding and how many shapes are allowed, and how large a batch.

    Returns:
        Shapes by increasing cells per row. Every pair of the histogram fits in one of them.
        A shape has as many rows as `max_tokens_per_micro_batch` and `tokens_per_update` allow on
        its longer side, rounded down to a multiple of eight where it is eight or more.
    """
    source, target = np.indices(histogram.shape)
    real_cells = float((histogram * (source + target + 2)).sum())
    leaves = [_leaf(histogram, slice(0, histogram.shape[0]), slice(0, histogram.shape[1]))]
    while len(leaves) < config.max_shapes:
        worst = max(leaves, key=lambda leaf: leaf.removable)
        padded_cells = sum(leaf.padded_cells for leaf in leaves)
        if worst.removable == 0 or real_cells >= config.min_fill * padded_cells:
            break
        leaves.remove(worst)
        leaves += _split(histogram, worst)
    max_tokens = min(config.max_tokens_per_micro_batch, config.tokens_per_update)
    shapes = {_shape(leaf, max_tokens) for leaf in leaves}
    return tuple(sorted(shapes, key=_size))


def shape_table(shapes: Sequence[Shape]) -> npt.NDArray[np.int16]:
    """Find, for each pair of lengths, the shape with the fewest cells that holds it.

    Returns:
        (longest source + 1, longest target + 1): positions in `shapes`; -1 where none is large
        enough.
    """
    height = max(shape.source_length for shape in shapes)
    width = max(shape.target_length for shape in shapes) - 1
    table = np.full((height, width), -1, dtype=np.int16)
    for number in sorted(range(len(shapes)), key=lambda i: _size(shapes[i]), reverse=True):
        shape = shapes[number]
        table[: shape.source_length, : shape.target_length - 1] = number
    return table


class _Leaf(NamedTuple):
    """A rectangle of the histogram whose pairs share a shape, and its best cut."""

    source: slice
    target: slice
    padded_cells: float
    removable: float
    """Padded cells that the best cut removes; 0 where nothing can be cut."""
    axis: int
    cut: int
    """Where the second half begins, on `axis`."""


def _leaf(histogram: npt.NDArray[np.float64], source: slice, target: slice) -> _Leaf:
    """Shrink a rectangle onto its longest sentences and find its best cut."""
    counts = histogram[source, target]
    source = slice(source.start, source.start + _end(counts.sum(axis=1)))
    target = slice(target.start, target.start + _end(counts.sum(axis=0)))
    counts = histogram[source, target]
    padded_cells = float(counts.sum()) * (source.stop + target.stop)
    by_source = _best_cut(counts, source.start, target.start)
    by_target = _best_cut(counts.T, target.start, source.start)
    axis, (removable, cut) = (0, by_source) if by_source[0] >= by_target[0] else (1, by_target)
    return _Leaf(source, target, padded_cells, removable, axis, cut)


def _best_cut(counts: npt.NDArray[np.float64], start: int, other_start: int) -> tuple[float, int]:
    """Find the cut of axis 0 that removes the most padded cells.

    Args:
        counts: pairs by length on the side to cut and length on the other side.
        start: the length of row 0.
        other_start: the length of column 0.

    Returns:
        The cells removed (0 where nothing can be cut), and the length where the second half begins.
    """
    rows = counts.sum(axis=1)
    if len(rows) == 1:
        return 0.0, start
    # Cells a pair has on the other side: as many as the longest sentence that stays with it.
    occupied = counts > 0
    reach = np.where(rows > 0, other_start + counts.shape[1] - occupied[:, ::-1].argmax(axis=1), 0)
    columns = start + 1 + np.arange(len(rows))
    below = rows.cumsum() * (columns + np.maximum.accumulate(reach))
    above = rows[::-1].cumsum()[::-1] * (columns[-1] + np.maximum.accumulate(reach[::-1])[::-1])
    removed = above[0] - below[:-1] - above[1:]
    best = int(removed.argmax())
    return float(max(removed[best], 0)), start + best + 1


def _split(histogram: npt.NDArray[np.float64], leaf: _Leaf) -> list[_Leaf]:
    """Cut a leaf in two."""
    if leaf.axis == 0:
        halves = slice(leaf.source.start, leaf.cut), slice(leaf.cut, leaf.source.stop)
        return [_leaf(histogram, half, leaf.target) for half in halves]
    halves = slice(leaf.target.start, leaf.cut), slice(leaf.cut, leaf.target.stop)
    return [_leaf(histogram, leaf.source, half) for half in halves]


def _shape(leaf: _Leaf, max_tokens: int) -> Shape:
    """Give a leaf the columns of its longest sentences, and the rows that the budget allows."""
    source_length = leaf.source.stop  # the longest source has one token less: EOS
    target_length = leaf.target.stop + 1  # the longest target has two tokens less: BOS and EOS
    rows = max(1, max_tokens // max(source_length, target_length))
    if rows >= _ROW_MULTIPLE:
        rows -= rows % _ROW_MULTIPLE
    return Shape(rows, source_length, target_length)


def _size(shape: Shape) -> tuple[int, int]:
    """Order shapes by cells, unambiguously."""
    return shape.cells_per_row, shape.source_length


def _end(counts: npt.NDArray[np.float64]) -> int:
    """Return the position after the last count that is not zero."""
    return int(np.flatnonzero(counts)[-1]) + 1
