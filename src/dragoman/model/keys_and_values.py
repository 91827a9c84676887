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

        Room is filled in place, so a cache with room can be continued only once; without room, as
        in exported graphs, all of it is copied.
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
        """Return the same with less room, as so many empty slots have been filled."""
        return replace(self, room=self.room - length)

    def compact(self, places: Int[Tensor, "batch kept"], *, room: int) -> "KeysAndValues":
        """Copy these slots of each row of the batch, with room after them."""
        # The same copy fills the room with the first slot. Uninitialised, it might hold NaN, and
        # although a hidden slot has a weight of zero, zero times NaN is NaN.
        places = F.pad(places, (0, room))
        return KeysAndValues(_take(self.keys, places), _take(self.values, places), room)

    def laid_out(self) -> "KeysAndValues":
        """Lay out in memory, once, what every step of a search reads.

        On a CPU each head lies apart; otherwise every product copies it again. On a GPU the heads
        of a slot lie side by side: the longer what is copied as one is, the faster is `compact`.
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
    heads: Float[Tensor, "batch heads memory d_k"], places: Int[Tensor, "batch kept"]
) -> Float[Tensor, "batch heads kept d_k"]:
    """Copy some slots of each row, and keep how they are laid out."""
    batch, num_heads, length, d_k = heads.shape
    if _is_by_slot(heads):
        slots = heads.transpose(1, 2).reshape(batch * length, num_heads * d_k)
        chosen = torch.arange(batch, device=places.device)[:, None] * length + places
        taken = slots.index_select(0, chosen.flatten())
        return taken.view(batch, places.size(1), num_heads, d_k).transpose(1, 2)
    row_starts = torch.arange(batch * num_heads, device=places.device) * length
    chosen = row_starts.view(batch, num_heads, 1) + places[:, None]
    taken = heads.reshape(-1, d_k).index_select(0, chosen.flatten())
    return taken.view(batch, num_heads, places.size(1), d_k)


def _select(
    heads: Float[Tensor, "batch heads memory d_k"], rows: Int[Tensor, " kept"]
) -> Float[Tensor, "kept heads memory d_k"]:
    """Copy some rows, and keep how they are laid out."""
    if _is_by_slot(heads):
        return heads.transpose(1, 2).index_select(0, rows).transpose(1, 2)
    return heads.index_select(0, rows)
