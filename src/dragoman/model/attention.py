"""Scaled dot-product and multi-head attention (section 3.2)."""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.dropout import Dropout
from dragoman.model.linear import Linear
from dragoman.model.rotation import Rotate, unrotated
from dragoman.model.softmax import softmax

Mask = Bool[Tensor, "#batch #heads #query memory"]


@dataclass(frozen=True)
class KeysAndValues:
    """A sequence projected to keys and values, what an attention layer looks at: the cache."""

    keys: Float[Tensor, "batch heads memory d_k"]
    values: Float[Tensor, "batch heads memory d_k"]

    room: int = 0
    """Places at the end where nothing stands yet; a mask has to hide them."""

    def append(self, newer: "KeysAndValues") -> "KeysAndValues":
        """Extend in time, as decoding does with each token.

        Room is written to, so what has some can be continued once; without it all is copied.
        """
        if self.room == 0:
            return KeysAndValues(
                keys=torch.cat([self.keys, newer.keys], dim=2),
                values=torch.cat([self.values, newer.values], dim=2),
            )
        begin, length = self.keys.size(2) - self.room, newer.keys.size(2)
        self.keys[:, :, begin : begin + length] = newer.keys
        self.values[:, :, begin : begin + length] = newer.values
        return replace(self, room=self.room - length)

    def compact(self, places: Int[Tensor, "batch kept"], *, room: int) -> "KeysAndValues":
        """Copy these places of each row of the batch, with room behind them."""
        batch, heads, length, d_k = self.keys.shape
        # Room is filled with the first place, in the same copy. Left unset it might hold NaN, and
        # a hidden place has a weight of zero, times which NaN is NaN.
        places = F.pad(places, (0, room))
        row_starts = torch.arange(batch * heads, device=places.device) * length
        chosen = (row_starts.view(batch, heads, 1) + places[:, None]).flatten()

        def copy(whole: Tensor) -> Tensor:
            copied = whole.flatten(end_dim=2).index_select(0, chosen)
            return copied.view(batch, heads, places.size(1), d_k)

        return KeysAndValues(copy(self.keys), copy(self.values), room)

    def contiguous(self) -> "KeysAndValues":
        """Make each head contiguous once; otherwise every product copies it again."""
        return KeysAndValues(keys=self.keys.contiguous(), values=self.values.contiguous())

    def select(self, rows: Int[Tensor, " kept"]) -> "KeysAndValues":
        """Keep these rows of the batch."""
        keys, values = (both.index_select(0, rows) for both in (self.keys, self.values))
        return KeysAndValues(keys, values, self.room)


def attention_weights(
    queries: Float[Tensor, "batch heads query d_k"],
    keys: Float[Tensor, "batch heads memory d_k"],
    mask: Mask | None,
) -> Float[Tensor, "batch heads query memory"]:
    """Compute softmax(Q K^T / sqrt(d_k)), where hidden positions get no weight at all."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return softmax(scores)


class ScaledDotProductAttention(nn.Module):
    """softmax(Q K^T / sqrt(d_k)) V, equation 1.

    It owns no weight. It is a module so that a hook can see what attends to what: the hook gets
    queries, keys, values and mask, and calls `attention_weights`, which knows of no dropout.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(
        self,
        queries: Float[Tensor, "batch heads query d_k"],
        keys: Float[Tensor, "batch heads memory d_k"],
        values: Float[Tensor, "batch heads memory d_k"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch heads query d_k"]:
        attend = self.fused if queries.is_cuda else self.equation
        return attend(queries, keys, values, mask)

    def equation(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None
    ) -> Float[Tensor, "batch heads query d_k"]:
        """Compute it as it is written; on a CPU nothing is faster for short sentences."""
        return self.dropout(attention_weights(queries, keys, mask)) @ values

    def fused(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None
    ) -> Float[Tensor, "batch heads query d_k"]:
        """Compute the same in one kernel, which keeps the weights out of a GPU's memory."""
        rate = self.dropout.rate if self.training else 0.0
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=rate)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 ... head_h) W^O, section 3.2.2.

    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V); the h matrices of a kind stand side by side in
    one, and the projected vector, not the embedding, is cut into heads. Unlike the paper's, the
    four projections have biases, as in PyTorch and Marian; they begin at zero.

    Projecting what is attended to and attending are two calls, so that the decoder can keep keys
    and values from one step to the next. The module itself never keeps any state.

    Raises:
        ValueError: the heads do not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        self.num_heads = num_heads
        self.query_projection = Linear(d_model, d_model)
        self.key_projection = Linear(d_model, d_model)
        self.value_projection = Linear(d_model, d_model)
        self.output_projection = Linear(d_model, d_model)
        self.attention = ScaledDotProductAttention(dropout)

    def project(
        self, sequence: Float[Tensor, "batch memory d_model"], rotate: Rotate = unrotated
    ) -> KeysAndValues:
        """Prepare a sequence to be attended to; `rotate` is that of its positions."""
        return KeysAndValues(
            keys=rotate(self._split_heads(self.key_projection(sequence))),
            values=self._split_heads(self.value_projection(sequence)),
        )

    def forward(
        self,
        sequence: Float[Tensor, "batch query d_model"],
        memory: KeysAndValues,
        mask: Mask | None = None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch query d_model"]:
        queries = rotate(self._split_heads(self.query_projection(sequence)))
        heads = self.attention(queries, memory.keys, memory.values, mask)
        concatenated = heads.transpose(1, 2).flatten(start_dim=2)  # batch query d_model
        return self.output_projection(concatenated)

    def _split_heads(
        self, sequence: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch heads length d_k"]:
        return sequence.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
