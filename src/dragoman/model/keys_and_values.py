"""What attention keeps of a sequence: the cache of keys and values, and how it lies in memory."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class KeysAndValues:
    """The keys and values of a sequence, which an attention layer looks at: the cache."""

    keys: Float[Tensor, "batch heads memory d_k"]
    values: Float[Tensor, "batch heads memory d_k"]

    room: int = 0
    """Empty slots at the end; a mask has to hide them."""

    def append(self, newer: "KeysAndValues") -> "KeysAndValues":
        """Append later positions, as decoding does with each token.

        Room is filled in place, so a cache with room can be continued only once. A search always
        has made room; without any, as in exported graphs, all of the cache is copied.
        """
        if self.room == 0:
            return KeysAndValues(
                keys=torch.cat([self.keys, newer.keys], dim=2),
                values=torch.cat([self.values, newer.values], dim=2),
            )
        begin, length = self.keys.size(2) - self.room, newer.keys.size(2)
        self.keys[:, :, begin : begin + length] = newer.keys
        self.values[:, :, begin : begin + length] = newer.values
        return self.filled(length)

    def filled(self, length: int) -> "KeysAndValues":
        """Tell that so many empty slots have been filled, here or by a recorded step on a GPU."""
        return replace(self, room=self.room - length)

    def compact(self, slots: Int[Tensor, "batch kept"], *, room: int) -> "KeysAndValues":
        """Copy these slots of each row of the batch, with room after them.

        The room is filled with copies of the first slot. Uninitialised, it might hold NaN, and
        although a hidden slot has a weight of zero, zero times NaN is NaN.
        """
        slots = F.pad(slots, (0, room))  # slot 0 once more for each empty one
        return KeysAndValues(_take(self.keys, slots), _take(self.values, slots), room)

    def laid_out(self) -> "KeysAndValues":
        """Copy to where a search reads fast; what is taken of it later is laid out alike.

        On a CPU each head lies apart, because otherwise every product of matrices would copy it
        again. On a GPU the heads of a slot lie side by side, because `compact` is the faster, the
        longer the pieces are that it copies.
        """
        lay_out = _by_slot if self.keys.is_cuda else torch.Tensor.contiguous
        return KeysAndValues(keys=lay_out(self.keys), values=lay_out(self.values))

    def select(self, rows: Int[Tensor, " kept"]) -> "KeysAndValues":
        """Keep these rows of the batch."""
        keys, values = (_select(both, rows) for both in (self.keys, self.values))
        return KeysAndValues(keys, values, self.room)


def _by_slot(
    heads: Float[Tensor, "batch heads memory d_k"],
) -> Float[Tensor, "batch heads memory d_k"]:
    """Let the heads of each slot lie side by side in memory."""
    return heads.transpose(1, 2).contiguous().transpose(1, 2)


def _is_by_slot(heads: Float[Tensor, "batch heads memory d_k"]) -> bool:
    return not heads.is_contiguous() and heads.transpose(1, 2).is_contiguous()


def _take(
    heads: Float[Tensor, "batch heads memory d_k"], slots: Int[Tensor, "batch kept"]
) -> Float[Tensor, "batch heads kept d_k"]:
    """Copy some slots of each row, and keep how they are laid out."""
    batch, num_heads, length, d_k = heads.shape
    if _is_by_slot(heads):
        all_slots = heads.transpose(1, 2).reshape(batch * length, num_heads * d_k)
        chosen = torch.arange(batch, device=slots.device)[:, None] * length + slots
        taken = all_slots.index_select(0, chosen.flatten())
        return taken.view(batch, slots.size(1), num_heads, d_k).transpose(1, 2)
    row_starts = torch.arange(batch * num_heads, device=slots.device) * length
    chosen = row_starts.view(batch, num_heads, 1) + slots[:, None]
    taken = heads.reshape(-1, d_k).index_select(0, chosen.flatten())
    return taken.view(batch, num_heads, slots.size(1), d_k)


def _select(
    heads: Float[Tensor, "batch heads memory d_k"], rows: Int[Tensor, " kept"]
) -> Float[Tensor, "kept heads memory d_k"]:
    """Copy some rows, and keep how they are laid out."""
    if _is_by_slot(heads):
        return heads.transpose(1, 2).index_select(0, rows).transpose(1, 2)
    return heads.index_select(0, rows)
