"""Scaled dot-product and multi-head attention (section 3.2)."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.dropout import Dropout
from dragoman.model.few_queries import are_few, attend_with_few
from dragoman.model.keys_and_values import KeysAndValues
from dragoman.model.linear import Linear, linears
from dragoman.model.rotation import Rotate, unrotated
from dragoman.model.softmax import softmax
from dragoman.model.tile_attention import attend, is_one_tile

Mask = Bool[Tensor, "_rows #heads _queries _memory"]
"""Which positions of the memory each query sees. Its first dimension has one row for each sentence
of the batch; or one row for all; or, made by `masks.side_by_side`, one for several sentences, which
then lie one after the other along the dimensions of queries and memory."""


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

    It has no parameters. It is a module so that hooks can see what attends to what, as those of
    `watched_attention` do.
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
        compute = self.fused if queries.is_cuda else self.equation
        return compute(queries, keys, values, mask)

    def equation(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None
    ) -> Float[Tensor, "batch heads query d_k"]:
        """Compute it as written; on a CPU, nothing is faster for short sentences."""
        return self.dropout(attention_weights(queries, keys, mask)) @ values

    def fused(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask | None
    ) -> Float[Tensor, "batch heads query d_k"]:
        """Compute the same in one kernel, which keeps the weights out of a GPU's memory.

        Which kernel: one of our own for compiled trainings with short sentences, one for the few
        queries of a search, PyTorch's for all else.
        """
        rate = self.dropout.rate if self.training else 0.0
        batch = rows = len(queries)
        # A mask of one row is one for all, unless it is wider than a sentence: then it is one of
        # `side_by_side`, for a batch that fits into one row.
        if mask is not None and (mask.size(0) > 1 or mask.size(3) > keys.size(2)):
            rows = mask.size(0)
        q, k, v = (_in_rows(whole, rows) for whole in (queries, keys, values))
        # Triton needs a C compiler, which only compiled trainings have asked for.
        is_compiled_training = torch.compiler.is_compiling() and self.training
        if is_compiled_training and rate == 0.0 and mask is not None and is_one_tile(q, mask):
            heads = attend(q, k, v, mask)
        elif mask is not None and are_few(q, mask):
            heads = attend_with_few(q, k, v, mask)
        else:
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=rate)
        return _in_rows(heads, batch)


def _in_rows(
    sequences: Float[Tensor, "batch heads length d_k"], rows: int
) -> Float[Tensor, "rows heads row_length d_k"]:
    """Lay sequences side by side in so many rows, or take them apart again.

    Nothing is copied where positions lie one after the other in memory, as projections leave them.
    Compiled blocks do not ask whether there is anything to do: each answer would have code of its
    own.
    """
    if not torch.compiler.is_compiling() and len(sequences) == rows:
        return sequences
    positions = sequences.transpose(1, 2).flatten(end_dim=1)
    return positions.unflatten(0, (rows, -1)).transpose(1, 2)


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 ... head_h) W^O, section 3.2.2.

    head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V); the h matrices of a kind are stored side by side
    in one, and the projected vector, not the embedding, is split into heads. Unlike the paper's,
    the four projections have biases, as in PyTorch and Marian, initialised to zero.

    Computing keys and values and attending to them are separate calls, so that the decoder can keep
    keys and values from one step to the next. The module itself never keeps any state.

    Raises:
        ValueError: d_model is not a multiple of the number of heads.
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
        """Compute the keys and values of a sequence; `rotate` is that of its positions."""
        keys, values = linears(sequence, self.key_projection, self.value_projection)
        return KeysAndValues(rotate(self._split_heads(keys)), self._split_heads(values))

    def forward(
        self,
        sequence: Float[Tensor, "batch query d_model"],
        memory: KeysAndValues | None = None,
        mask: Mask | None = None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch query d_model"]:
        """Attend to a memory, or without one, as self-attention, to the sequence itself."""
        if memory is None:
            queries, keys, values = linears(
                sequence, self.query_projection, self.key_projection, self.value_projection
            )
            memory = KeysAndValues(rotate(self._split_heads(keys)), self._split_heads(values))
        else:
            queries = self.query_projection(sequence)
        heads = self.attention(rotate(self._split_heads(queries)), memory.keys, memory.values, mask)
        concatenated = heads.transpose(1, 2).flatten(start_dim=2)  # batch query d_model
        return self.output_projection(concatenated)

    def _split_heads(
        self, sequence: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch heads length d_k"]:
        return sequence.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
