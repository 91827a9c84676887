"""Batches grouped into updates, epoch after epoch, starting at any position.

The plan of an epoch depends on (seed, epoch) alone, so a position is just two numbers, and a run
that was stopped continues with exactly the batches that it would have seen.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from dragoman.corpora.batch import ALL, Batch, Part, pad
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.epoch_plan import EpochPlan, Planner
from dragoman.corpora.shapes import Shape, choose_shapes, length_histogram
from dragoman.corpora.token_store import TokenStore
from dragoman.tokenizers.tokenizer import SpecialIds

Tokens = npt.NDArray[np.integer]
Lengths = npt.NDArray[np.int64]
Sentence = Tokens | Sequence[int]
Resample = Callable[
    [list[Tokens], list[Tokens], int], tuple[Sequence[Sentence], Sequence[Sentence]]
]
"""Segments sentences into other subwords: (sources, targets, seed) -> (sources, targets)."""

_WIDTH_MULTIPLE = 8  # re-sampled batches come in few widths, too


@dataclass(frozen=True, order=True)
class Position:
    """An update: where a run stands, and all that a checkpoint keeps about the data."""

    epoch: int
    update: int
    """Within the epoch, from 0."""


@dataclass(frozen=True, kw_only=True)
class Update:
    """The batches of one optimizer update; their gradients are summed."""

    position: Position

    next_position: Position
    """Where a run continues after this update."""

    micro_batches: list[Batch]
    """Each with the rows of this process only."""

    pairs: npt.NDArray[np.int64]
    """The pairs of the token store that all processes see, in the same order for any number of
    processes."""

    num_target_tokens: int
    """Tokens to predict on all processes: what the summed loss is divided by."""

    @property
    def ends_epoch(self) -> bool:
        """Whether this is the last update of its epoch."""
        return self.next_position.epoch > self.position.epoch


class Batches:
    """All batches of a training run.

    Every process of a distributed run makes the same plan and takes its part of each micro-batch,
    so the result does not depend on the number of processes.

    Args:
        store: the pairs.
        config: how much an update and a micro-batch hold.
        seed: decides the order of all epochs, 0 or more.
        special: the padding, the beginning and the end of a sentence, for both sides.
        resample: if given, segments the sentences of each micro-batch anew. Its seed is derived
            from the seed, the epoch and the micro-batch. If the new sentences do not fit the shape,
            the batch is widened to the next multiple of eight columns.
    """

    def __init__(
        self,
        store: TokenStore,
        config: BatchingConfig,
        *,
        seed: int,
        special: SpecialIds,
        resample: Resample | None = None,
    ) -> None:
        self._store = store
        self._shapes = choose_shapes(length_histogram(store), config)
        self._config = config
        self.seed = seed
        self._special = special
        self._resample = resample
        self._planner = Planner(store, self._shapes, config)

    @property
    def fingerprint(self) -> str:
        """A checksum of all that determines the batches; a position means nothing without it."""
        tokens_per_update = self._config.tokens_per_update
        decisive = repr((self._store.description, self._shapes, tokens_per_update, self.seed))
        if self._config.fill_up:
            decisive += " filled up"
        return hashlib.sha256(decisive.encode()).hexdigest()

    def epoch(self, epoch: int) -> EpochPlan:
        """Plan an epoch; a function of (seed, epoch) alone."""
        return self._planner.plan(np.random.Generator(np.random.Philox(self._sequence(epoch))))

    def updates(self, position: Position = Position(0, 0), *, part: Part = ALL) -> Iterator[Update]:
        """Yield updates from a position on, endlessly.

        Args:
            position: the first update.
            part: the rows of this process.

        Raises:
            ValueError: the epoch has no such update.
        """
        epoch, first = position.epoch, position.update
        while True:
            plan = self.epoch(epoch)
            if first and first >= plan.num_updates:
                raise ValueError(
                    f"epoch {epoch} has {plan.num_updates} updates and no update {first}"
                )
            for number in range(first, plan.num_updates):
                yield self._update(plan, Position(epoch, number), part)
            epoch, first = epoch + 1, 0

    def _update(self, plan: EpochPlan, position: Position, part: Part) -> Update:
        """Build the batches of one update."""
        first, end = plan.bounds[position.update : position.update + 2].tolist()
        pairs, micro_batches, tokens = [], [], 0
        for number in range(first, end):
            pairs.append(plan.micro_batch(number))
            seed = int(self._sequence(position.epoch, number).generate_state(1)[0])
            whole = self._batch(pairs[-1], self._shapes[plan.shapes[number]], seed)
            micro_batches.append(whole.shard(part))
            tokens += whole.num_target_tokens
        last = position.update + 1 == plan.num_updates
        following = (position.epoch + 1, 0) if last else (position.epoch, position.update + 1)
        return Update(
            position=position,
            next_position=Position(*following),
            micro_batches=micro_batches,
            pairs=np.concatenate(pairs),
            num_target_tokens=tokens,
        )

    def _batch(self, indices: npt.NDArray[np.int64], shape: Shape, seed: int) -> Batch:
        """Read pairs, and lay them out as a micro-batch of this shape."""
        source: Tokens
        target: Tokens
        source, source_lengths = self._store.sources.gather(indices)
        target, target_lengths = self._store.targets.gather(indices)
        if self._resample is not None:
            sources, targets = self._resample(
                _cut(source, source_lengths), _cut(target, target_lengths), seed
            )
            source, source_lengths = _join(sources, len(indices))
            target, target_lengths = _join(targets, len(indices))
        return Batch(
            source=pad(
                source,
                source_lengths,
                width=_width(shape.source_length, source_lengths, marks=1),
                pad_id=self._special.pad,
                eos_id=self._special.eos,
            ),
            target=pad(
                target,
                target_lengths,
                width=_width(shape.target_length, target_lengths, marks=2),
                pad_id=self._special.pad,
                eos_id=self._special.eos,
                bos_id=self._special.bos,
            ),
            indices=indices,
            pad_id=self._special.pad,
        )

    def _sequence(self, *key: int) -> np.random.SeedSequence:
        """Return the seed sequence of an epoch, or of one of its micro-batches."""
        return np.random.SeedSequence(self.seed, spawn_key=key)


def _cut(tokens: Tokens, lengths: Lengths) -> list[Tokens]:
    """Cut a row of tokens into its sentences."""
    return np.split(tokens, lengths.cumsum()[:-1])


def _join(sentences: Sequence[Sentence], rows: int) -> tuple[Tokens, Lengths]:
    """Concatenate sentences; the inverse of `_cut`."""
    if len(sentences) != rows:
        raise ValueError(f"re-sampling made {len(sentences)} sentences of {rows}")
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    return np.fromiter(chain.from_iterable(sentences), dtype=np.int64), lengths


def _width(planned: int, lengths: Lengths, *, marks: int) -> int:
    """Return the columns of a rectangle: those planned, or more where a sentence needs more."""
    needed = int(lengths.max()) + marks
    if needed <= planned:
        return planned
    return -(-needed // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE
