"""What decoding remembers from one token to the next."""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from dragoman.model.keys_and_values import KeysAndValues
from dragoman.model.masks import SourceMask, TargetMask
from dragoman.model.positional_encoding import Position
from dragoman.model.softmax import REGISTER

ROOM = REGISTER
"""The cache grows by this many slots at a time. A new shape costs a CPU more than attention to a
few hidden slots. And as this is also how many numbers a CPU adds up side by side, the extra hidden
slots that a sentence has when it is batched with longer ones do not change any sum."""

TOKENS_AT_ONCE = 4
"""Room is made for at least this many tokens of each prefix."""

TOKENS_AT_ONCE_ON_GPU = 16
"""There, steps are recorded for memory that stays where it is, and hidden slots are hardly read."""

LEAST_ROOM_ON_GPU = 64
"""The first token has one prefix, and those after it as many as the beam."""


@dataclass(frozen=True)
class BlockState:
    """What one decoder block looks back at."""

    source: KeysAndValues
    target: KeysAndValues | None = None


@dataclass(frozen=True)
class DecoderState:
    """All that decoding must remember from one token to the next: the cache of keys and values.

    A search follows several prefixes of each sentence. They lie side by side along the dimension
    that holds positions in training: each step writes the keys and values of all of them into room
    made for several steps, and nothing is copied when the search drops one prefix and lets another
    branch. Instead, each prefix remembers which slots it may see. When the room is full, the slots
    that some prefix still descends from are copied to a cache with more room; the prefixes of a
    beam share most of their past.

    A step writes into the room of the state that it is given, and that state cannot be used again.
    Only the state before the first token has no room yet, and may be continued in many ways.
    """

    blocks: tuple[BlockState, ...]
    source_mask: SourceMask
    length: Position
    """Number of tokens in each prefix."""

    visible: Bool[Tensor, "batch prefixes places"]
    """Which slots of the cache each prefix may see: those of its own tokens."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "DecoderState":
        """Keep these sentences of the batch."""
        blocks = tuple(
            BlockState(
                block.source.select(sentences), block.target and block.target.select(sentences)
            )
            for block in self.blocks
        )
        return DecoderState(
            blocks, self.source_mask[sentences], self.length, self.visible[sentences]
        )

    def reorder(self, parents: Int[Tensor, "batch prefixes"]) -> "DecoderState":
        """Let each prefix continue the one in its parent's row.

        There may be more of them than before, or fewer. Before the first token there is one.
        """
        return replace(self, visible=self.visible.take_along_dim(parents[:, :, None], dim=1))

    def extend(self) -> "DecoderState":
        """Extend each prefix by one token, whose keys and values the decoder then appends."""
        width = self.visible.size(1)
        state = self if self._room >= width else self._make_room()
        begin = state.first_empty_slot
        visible = state.visible.clone()
        visible[:, :, begin : begin + width] = torch.eye(
            width, dtype=torch.bool, device=visible.device
        )
        return replace(state, length=self.length + 1, visible=visible)

    @property
    def mask(self) -> TargetMask:
        """`visible`, in the shape that attention expects."""
        return self.visible[:, None]

    @property
    def first_empty_slot(self) -> int:
        """Where the next keys and values go."""
        return self.visible.size(2) - self._room

    @property
    def _room(self) -> int:
        """Slots of the cache that are still free."""
        target = self.blocks[0].target
        return 0 if target is None else target.room

    def _make_room(self) -> "DecoderState":
        """Drop what no prefix descends from, and make room for the next few tokens."""
        batch, width, _ = self.visible.shape
        room = _round_up(
            max(TOKENS_AT_ONCE_ON_GPU * width, LEAST_ROOM_ON_GPU)
            if self.visible.is_cuda
            else TOKENS_AT_ONCE * width
        )
        needed = self.visible.any(dim=1)
        most = int(needed.sum(dim=1).max()) if needed.numel() else 0
        # Stable, so that tokens keep their order; slots kept beyond those needed stay hidden.
        needed_first = needed.byte().argsort(dim=1, descending=True, stable=True)
        kept = needed_first[:, : _round_up(most)]
        # Before the first token nothing is kept: the source lends its format, and hidden filling.
        blocks = tuple(
            replace(block, target=(block.target or block.source).compact(kept, room=room))
            for block in self.blocks
        )
        visible = self.visible.take_along_dim(kept[:, None], dim=2)
        empty = torch.zeros(batch, width, room, dtype=torch.bool, device=visible.device)
        return replace(self, blocks=blocks, visible=torch.cat([visible, empty], dim=2))


def _round_up(places: int) -> int:
    """Return the next multiple of `ROOM`."""
    return math.ceil(places / ROOM) * ROOM
