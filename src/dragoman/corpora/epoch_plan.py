"""The plan of an epoch: which pairs, in which micro-batches, in which updates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.shapes import Shape, shape_table
from dragoman.corpora.store_description import StoredCorpus
from dragoman.corpora.token_store import TokenStore

_BLOCK = 1 << 20  # pairs at once, so that temporary arrays stay small


@dataclass(frozen=True, kw_only=True)
class EpochPlan:
    """The order of an epoch, in about four bytes per pair."""

    pairs: npt.NDArray[np.int32]
    """(pairs of the epoch,): positions in the store, those of a micro-batch side by side."""

    begins: npt.NDArray[np.int64]
    """(micro-batches,): where each micro-batch begins in `pairs`."""

    rows: npt.NDArray[np.int64]
    """(micro-batches,): how many pairs each micro-batch has."""

    shapes: npt.NDArray[np.int64]
    """(micro-batches,): the number of each micro-batch's shape."""

    bounds: npt.NDArray[np.int64]
    """(updates + 1,): update u is made of the micro-batches bounds[u] to bounds[u + 1]."""

    real_cells: int
    """Positions of the epoch's batches that hold a token, on both sides."""

    padded_cells: int
    """Positions of the epoch's batches, padding included."""

    @property
    def num_updates(self) -> int:
        """Updates in the epoch."""
        return len(self.bounds) - 1

    def micro_batch(self, number: int) -> npt.NDArray[np.int64]:
        """Return which pairs a micro-batch holds."""
        begin = self.begins[number]
        return self.pairs[begin : begin + self.rows[number]].astype(np.int64)

    def fill(self) -> float:
        """Return the share of positions that hold a token and not padding."""
        return self.real_cells / self.padded_cells


class Planner:
    """Plan epochs of a store.

    Args:
        store: the pairs.
        shapes: of micro-batches; each pair fits in one.
        config: how many target tokens an update has, and whether micro-batches are filled up.
    """

    def __init__(self, store: TokenStore, shapes: Sequence[Shape], config: BatchingConfig) -> None:
        self._corpora = store.corpora
        self._shapes = shapes
        self._next_longer = [
            _next_longer(shapes, number) if config.fill_up else None
            for number in range(len(shapes))
        ]
        self._tokens_per_update = config.tokens_per_update
        self._source_lengths, self._target_lengths = store.lengths()
        self._shape_of = _assign(shapes, self._source_lengths, self._target_lengths)

    def plan(self, generator: np.random.Generator) -> EpochPlan:
        """Draw the pairs of an epoch, shuffle them, and pack them.

        Pairs are shuffled and fill the micro-batches of their shape in that order. The last
        micro-batch of a shape may have fewer rows, unless the rest moves to a longer shape: a few
        rows take nearly as long as many, and a CPU's math library has to prepare itself for each
        new number of rows. Micro-batches are shuffled and grouped into updates in that order.
        """
        drawn = _draw(self._corpora, generator)
        generator.shuffle(drawn)
        pairs, rows, shapes = self._pack(drawn)
        begins = rows.cumsum() - rows
        source_cells = _sums(self._source_lengths[pairs], begins) + rows  # tokens and EOS
        target_cells = _sums(self._target_lengths[pairs], begins) + rows
        columns = np.array([shape.cells_per_row for shape in self._shapes])
        order = generator.permutation(len(rows))
        return EpochPlan(
            pairs=pairs,
            begins=begins[order],
            rows=rows[order],
            shapes=shapes[order],
            bounds=_group(target_cells[order], self._tokens_per_update),
            real_cells=int(source_cells.sum() + target_cells.sum()),
            padded_cells=int((rows * columns[shapes]).sum()),
        )

    def _pack(
        self, drawn: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Sort pairs by shape; return them, and the rows and the shape of each micro-batch.

        A shape that fills no micro-batch keeps its pairs: in a small text, nearly all pairs would
        otherwise keep moving to longer shapes, and padding would grow.
        """
        shape_of = self._shape_of[drawn]
        members = [drawn[shape_of == number] for number in range(len(self._shapes))]
        rows: list[int] = []
        shapes: list[int] = []
        for number, shape in enumerate(self._shapes):
            full, rest = divmod(len(members[number]), shape.rows)
            longer = self._next_longer[number]
            if full and rest and longer is not None:
                members[number], moved = np.split(members[number], [full * shape.rows])
                members[longer] = np.concatenate([moved, members[longer]])
                rest = 0
            rows += [shape.rows] * full + [rest] * (rest > 0)
            shapes += [number] * (len(rows) - len(shapes))
        pairs = np.concatenate(members)
        return pairs, np.array(rows, dtype=np.int64), np.array(shapes, dtype=np.int64)


def _next_longer(shapes: Sequence[Shape], number: int) -> int | None:
    """Find the first shape after this one that is as long on both sides, if there is one."""
    shape = shapes[number]
    for other in range(number + 1, len(shapes)):
        if (
            shapes[other].source_length >= shape.source_length
            and shapes[other].target_length >= shape.target_length
        ):
            return other
    return None


def _assign(
    shapes: Sequence[Shape],
    source_lengths: npt.NDArray[np.uint16],
    target_lengths: npt.NDArray[np.uint16],
) -> npt.NDArray[np.int16]:
    """Return the number of each pair's shape."""
    table = shape_table(shapes)
    assigned = np.empty(len(source_lengths), dtype=np.int16)
    for start in range(0, len(assigned), _BLOCK):
        block = slice(start, start + _BLOCK)
        assigned[block] = table[source_lengths[block], target_lengths[block]]
    return assigned


def _draw(corpora: Sequence[StoredCorpus], generator: np.random.Generator) -> npt.NDArray[np.int32]:
    """Take each pair as many times as its corpus weighs; a fraction takes a random part of them.

    A fractional number of pairs is rounded up or down at random, so that even a single pair of
    weight 0.1 is seen, in one epoch out of ten.
    """
    parts = [np.empty(0, dtype=np.int32)]
    for corpus in corpora:
        pairs = np.arange(corpus.start, corpus.stop, dtype=np.int32)
        whole = int(corpus.weight)
        parts += [pairs] * whole
        if corpus.weight > whole:
            part = int((corpus.weight - whole) * len(pairs) + generator.random())
            parts.append(generator.permutation(pairs)[:part])
    return np.concatenate(parts)


def _sums(lengths: npt.NDArray[np.uint16], begins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Add up lengths from each beginning to the next."""
    return np.add.reduceat(lengths, begins, dtype=np.int64)


def _group(tokens: npt.NDArray[np.int64], tokens_per_update: int) -> npt.NDArray[np.int64]:
    """Group a sequence of micro-batches, given as numbers of tokens, into updates of similar size.

    Think of the sequence as a line marked every `tokens_per_update` tokens: a micro-batch belongs
    to the update in which its middle lies. So updates have the right number of tokens on average,
    and a remainder of less than half a micro-batch joins the last one.
    """
    ends = tokens.cumsum()
    update_of = ((ends - tokens / 2) // tokens_per_update).astype(np.int64)
    first_of_each = np.flatnonzero(np.diff(update_of, prepend=-1))
    return np.append(first_of_each, len(tokens))
