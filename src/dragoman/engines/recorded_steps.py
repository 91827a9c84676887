"""CUDA graphs of a search: what a GPU is told for a step is recorded once, then replayed.

A step of a base model takes some two hundred kernels, and a processor needs longer to start them
one by one than a GPU to run them for thousands of sentences.
"""

import functools
import operator
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dragoman.model.decoder_state import BlockState, DecoderState
from dragoman.model.ensemble import Ensemble
from dragoman.model.keys_and_values import KeysAndValues
from dragoman.model.positional_encoding import SinusoidTable
from dragoman.model.projection import Project
from dragoman.model.transformer import Transformer

Tokens = Int[Tensor, "batch prefixes"]
States = Float[Tensor, "batch prefixes d_model"]

Compute = Callable[[], Tensor]
Record = Callable[[Compute], Compute]
"""From what computes something to what computes it again, from and into the same memory."""


ALONE = threading.Lock()
"""Whoever gives a GPU something to compute besides training holds it. In three searches at a time,
recordings did not come to an end."""


class Recorder:
    """Records on a GPU; all its recordings, one after the other, share memory."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()
        # As long as something uses the pool, it is not given up with the last other recording.
        self._kept = self(lambda: torch.zeros(1, device=device))

    @classmethod
    @functools.cache
    def of(cls, device: torch.device) -> "Recorder":
        """Return the one for this GPU, whatever model is searched with.

        Raises:
            torch.OutOfMemoryError: there is too little memory for it now.
        """
        return cls(device)

    def __call__(self, compute: Compute) -> Compute:
        """Record, which computes nothing yet."""
        graph = torch.cuda.CUDAGraph()
        # Not `torch.cuda.graph`, which gives all memory back to the GPU each time.
        with torch.cuda.stream(self._stream):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                found = compute()
            finally:
                graph.capture_end()

        def replay() -> Tensor:
            graph.replay()
            return found

        return replay


@dataclass(frozen=True)
class _Slots(KeysAndValues):
    """Keys and values, with places for those of the next tokens, which the GPU looks up."""

    places: Int[Tensor, " prefixes"] | None = None

    def append(self, newer: KeysAndValues) -> KeysAndValues:
        """Write them there."""
        assert self.places is not None
        self.keys.index_copy_(2, self.places, newer.keys)
        self.values.index_copy_(2, self.places, newer.values)
        return self


@dataclass(frozen=True)
class _Recording:
    """A step, and the memory that it is told in what differs from the one before."""

    compute: Compute
    tokens: Tokens
    state: DecoderState
    places: Int[Tensor, " prefixes"]

    def replay(self, tokens: Tokens, state: DecoderState) -> tuple[States, DecoderState]:
        """Compute what `Transformer.advance` does. The next replay overwrites the states."""
        width, first = len(self.places), state.first_empty_slot
        self.tokens.copy_(tokens)
        self.state.visible.copy_(state.visible)
        assert isinstance(self.state.length, Tensor)
        self.state.length.fill_(state.length)
        torch.arange(first, first + width, out=self.places)
        states = self.compute()
        blocks = tuple(
            replace(block, target=block.target and block.target.filled(width))
            for block in state.blocks
        )
        return states, replace(state, blocks=blocks)


class RecordedSteps:
    """Does what `Transformer.step` does for the search of a batch, from recordings.

    Where the cache has moved, or the number of prefixes has changed, a step is computed as usual,
    which also prepares all that is prepared when it is first needed. If the next one finds all in
    the same place, it is recorded, and those after it are replayed.
    """

    def __init__(self, transformer: Transformer | Ensemble, record: Record) -> None:
        self._transformer = transformer
        self._record = record
        self._recording: _Recording | None = None
        self._shape: torch.Size | None = None
        self._memory: tuple[Tensor, ...] = ()
        self._tables = [part for part in transformer.modules() if isinstance(part, SinusoidTable)]

    def __call__(
        self, tokens: Tokens, state: DecoderState, project: Project | None = None
    ) -> tuple[Float[Tensor, "batch prefixes _vocab"], DecoderState]:
        """Compute the logits of the tokens that follow these."""
        state = state.extend()
        is_in_place = self._is_in_place(tokens, state)
        self._recording = (self._recording or self._begin(tokens, state)) if is_in_place else None
        compute = self._recording.replay if self._recording else self._transformer.advance
        states, state = compute(tokens, state)
        return (project or self._transformer.project)(states), state

    def _is_in_place(self, tokens: Tokens, state: DecoderState) -> bool:
        """Tell whether a step reads and writes the same memory as the one before it."""
        shape, memory = self._shape, self._memory
        cache = state.blocks[0].target
        assert cache is not None
        tables = [table.reach(int(state.length)) for table in self._tables]
        self._shape, self._memory = tokens.shape, (cache.keys, *tables)
        return shape == tokens.shape and all(map(operator.is_, memory, self._memory))

    def _begin(self, tokens: Tokens, state: DecoderState) -> _Recording | None:
        """Record a step like this one, unless there is too little memory.

        While it records, a GPU cannot take memory that PyTorch keeps for later, a usual step can.
        """
        like, places = tokens.clone(), torch.arange(tokens.size(1), device=tokens.device)
        blocks = tuple(
            BlockState(block.source, _Slots(block.target.keys, block.target.values, places=places))
            for block in state.blocks
            if block.target is not None
        )
        length = torch.tensor(state.length, device=tokens.device)
        itself = replace(state, blocks=blocks, length=length, visible=state.visible.clone())

        def compute() -> Tensor:
            states, _ = self._transformer.advance(like, itself)
            return states

        try:
            return _Recording(self._record(compute), like, itself, places)
        except torch.OutOfMemoryError:  # nothing was computed yet
            return None
