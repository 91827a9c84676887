"""Attention in compiled training on a GPU: a sentence, or some short ones, is one tile.

PyTorch's kernels are made for thousands of positions, which they look at tile by tile. Most
sentences have tens: all their scores are one tile, which never leaves the processor that computes
it. So there is less to write and to read again, and a kernel of our own takes half the time; it is
in `dragoman.kernels.attention`. Here is what it computes, as operations that compilers take as they
are.
"""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from dragoman.kernels import HAS_TRITON
from dragoman.model.softmax import softmax

Heads = Float[Tensor, "rows heads _length d_k"]

TILE = 64
"""A GPU's kernels for attention compute this many queries and as many keys at a time, hidden or
not."""

FORMATS = (torch.bfloat16, torch.float16)
WIDTHS = (16, 32, 64, 128)


def is_one_tile(heads: Heads, mask: Bool[Tensor, "_rows _heads _queries memory"]) -> bool:
    """Tell whether `attend` takes such queries, and a mask of all keys.

    Compiled blocks know how long a mask is that has a row for each query, but not the queries.
    """
    num_queries = heads.size(2) if mask.size(2) == 1 else mask.size(2)
    return (
        (HAS_TRITON or not heads.is_cuda)
        and heads.dtype in FORMATS
        and heads.size(3) in WIDTHS
        and mask.size(1) == 1
        and num_queries <= TILE
        and mask.size(3) <= TILE
    )


@torch.library.custom_op("dragoman::attend", mutates_args=())
def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Compute softmax(Q K^T / sqrt(d_k)) V, equation 1, where the mask is true.

    Args:
        queries: (rows, heads, queries, d_k), of a tile at most.
        keys: (rows, heads, memory, d_k), of a tile at most.
        values: (rows, heads, memory, d_k).
        mask: (rows, 1, queries, memory), with 1 in the place of rows or queries if it is the same
            for all.

    Returns:
        (rows, heads, queries, d_k), laid out as `empty_heads` does.
    """
    found = empty_heads(queries)
    if not queries.is_cuda:
        return found.copy_(_weights(queries, keys, mask) @ values)
    from dragoman.kernels.attention import attend_in_tiles

    attend_in_tiles((queries, keys, values), mask, found, tile=TILE)
    return found


@torch.library.custom_op("dragoman::attend_backward", mutates_args=())
def attend_backward(
    gradient: Tensor, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of queries, keys and values from that of what `attend` returns."""
    found = empty_heads(queries), empty_heads(keys), empty_heads(values)
    if not queries.is_cuda:
        gradients = _gradients(gradient, queries, keys, values, mask)
        for place, computed in zip(found, gradients, strict=True):
            place.copy_(computed)
        return found
    from dragoman.kernels.attention import gradients_in_tiles

    gradients_in_tiles((gradient, queries, keys, values), mask, found, tile=TILE)
    return found


def empty_heads(like: Heads) -> Heads:
    """Make room for heads that lie side by side for each position, as projections lay them."""
    rows, heads, length, d_k = like.shape
    return like.new_empty(rows, length, heads, d_k).transpose(1, 2)


def _weights(
    queries: Heads, keys: Heads, mask: Bool[Tensor, "#rows 1 #queries memory"]
) -> Float[Tensor, "rows heads queries memory"]:
    """Compute softmax(Q K^T / sqrt(d_k)) as written."""
    scores = queries @ keys.mT / math.sqrt(queries.size(3))
    return softmax(scores.masked_fill(~mask, -math.inf))


def _gradients(
    gradient: Heads, queries: Heads, keys: Heads, values: Heads, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients as the chain rule says."""
    weights = _weights(queries, keys, mask)
    of_weights = gradient @ values.mT
    of_scores = weights * (of_weights - (of_weights * weights).sum(dim=-1, keepdim=True))
    of_scores /= math.sqrt(queries.size(3))
    return of_scores @ keys, of_scores.mT @ queries, weights.mT @ gradient


@attend.register_fake
def _(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return empty_heads(queries)


@attend_backward.register_fake
def _(
    gradient: Tensor, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return empty_heads(queries), empty_heads(keys), empty_heads(values)


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _go_back(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return *attend_backward(gradient, *ctx.saved_tensors), None


attend.register_autograd(_go_back, setup_context=_keep)
