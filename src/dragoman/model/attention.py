"""Scaled dot-product and multi-head attention (section 3.2)."""

import math

from jaxtyping import Bool, Float
from torch import Tensor, nn

from dragoman.model.dropout import Dropout
from dragoman.model.fused_attention import attend_in_one_kernel
from dragoman.model.keys_and_values import KeysAndValues
from dragoman.model.linear import Linear, linears
from dragoman.model.rotation import Rotate, unrotated
from dragoman.model.softmax import softmax

Mask = Bool[Tensor, "_rows #heads _queries _memory"]
"""Which positions of the memory each query sees. Its first dimension has one row for each sentence
of the batch, or one for all; or, in training on a GPU, one for several of them, as
`fused_attention.side_by_side` makes it. In a search, a decoder looks back at slots that several
prefixes share, and each prefix sees those of its own tokens, in their order."""


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
        """Compute the same in one kernel, which keeps the weights out of a GPU's memory."""
        rate = self.dropout.rate if self.training else 0.0
        return attend_in_one_kernel(
            queries, keys, values, mask, dropout=rate, training=self.training
        )


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
