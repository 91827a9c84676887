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

SLOTS_AT_ONCE = REGISTER
"""A cache has a multiple of so many slots. A CPU adds up this many numbers side by side, so the
extra hidden slots that a sentence has when it is batched with longer ones do not change any sum."""

TOKENS_AT_ONCE = 4
"""Room is made for at least this many tokens of each prefix: a new shape costs a CPU more than
attention to a few hidden slots."""

TOKENS_AT_ONCE_ON_GPU = 16
"""There, steps are recorded for memory that stays where it is, and hidden slots are hardly read."""

LEAST_ROOM_ON_GPU = 64
"""The first token has one prefix, and those after it as many as the beam."""


@dataclass(frozen=True)
class BlockState:
    """What one decoder block looks back at."""

    source: KeysAndValues
    target: KeysAndValues | None = None
    """Of the tokens so far; nothing until room is made for the first."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "BlockState":
        """Keep these sentences of the batch."""
        target = None if self.target is None else self.target.select(sentences)
        return BlockState(self.source.select(sentences), target)

    def make_room(self, slots: Int[Tensor, "batch kept"], *, room: int) -> "BlockState":
        """Copy these slots of the target to a cache with so much room.

        Before the first token there are none to copy. The new cache then takes its format from the
        source, and the numbers that it is filled with as well, which are hidden like any others.
        """
        cache = self.source if self.target is None else self.target
        return BlockState(self.source, cache.compact(slots, room=room))


@dataclass(frozen=True)
class DecoderState:
    """All that decoding must remember from one token to the next: the cache of keys and values.

    A search follows several prefixes of each sentence. They lie side by side along the dimension
    that holds positions in training: each step writes the keys and values of all of them into room
    made for several steps, and nothing is copied when the search drops one prefix and lets another
    branch. Instead, each prefix remembers which slots it may see. When the room is full, the slots
    that some prefix still descends from are copied to a cache with more room; the prefixes of a
    beam share most of their past.

    A step has two parts. `extend` decides where the next keys and values go and who sees them;
    then the blocks of the decoder compute and append them. The first is done by the host, and only
    the second can be recorded on a GPU.

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
        blocks = tuple(block.select(sentences) for block in self.blocks)
        return DecoderState(
            blocks, self.source_mask[sentences], self.length, self.visible[sentences]
        )

    def reorder(self, parents: Int[Tensor, "batch prefixes"]) -> "DecoderState":
        """Let each prefix continue the one in its parent's row.

        There may be more of them than before, or fewer. Before the first token there is one.
        """
        return replace(self, visible=self.visible.take_along_dim(parents[:, :, None], dim=1))

    def extend(self) -> "DecoderState":
        """Give each prefix a slot that it alone may see, which the decoder then fills."""
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
        """Where the next keys and values go; after `extend`, those of the new tokens."""
        return self.visible.size(2) - self._room

    @property
    def _room(self) -> int:
        """Slots of the cache that are still free."""
        target = self.blocks[0].target
        return 0 if target is None else target.room

    def _make_room(self) -> "DecoderState":
        """Drop what no prefix descends from, and make room for the next few tokens."""
        batch, width, _ = self.visible.shape
        room = _room_for(width, on_gpu=self.visible.is_cuda)
        kept = self._slots_in_use()
        blocks = tuple(block.make_room(kept, room=room) for block in self.blocks)
        visible = self.visible.take_along_dim(kept[:, None], dim=2)
        empty = torch.zeros(batch, width, room, dtype=torch.bool, device=visible.device)
        return replace(self, blocks=blocks, visible=torch.cat([visible, empty], dim=2))

    def _slots_in_use(self) -> Int[Tensor, "batch kept"]:
        """List the slots that some prefix may see, the same number for each sentence.

        Where a sentence has fewer, others fill the list up; they stay hidden.
        """
        needed = self.visible.any(dim=1)
        most = int(needed.sum(dim=1).max()) if needed.numel() else 0
        # Stable, so that tokens keep their order.
        needed_first = needed.byte().argsort(dim=1, descending=True, stable=True)
        return needed_first[:, : _round_up(most)]


def _room_for(num_prefixes: int, *, on_gpu: bool) -> int:
    """Choose how many empty slots a cache gets for the next tokens of so many prefixes."""
    if on_gpu:
        return _round_up(max(TOKENS_AT_ONCE_ON_GPU * num_prefixes, LEAST_ROOM_ON_GPU))
    return _round_up(TOKENS_AT_ONCE * num_prefixes)


def _round_up(slots: int) -> int:
    """Return the next multiple of `SLOTS_AT_ONCE`."""
    return math.ceil(slots / SLOTS_AT_ONCE) * SLOTS_AT_ONCE
