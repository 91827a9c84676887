"""What `dragoman.model.tile_attention` does on a GPU.

Each program computes one head of one row: queries, keys and values are loaded once, all scores stay
in registers, and only the output, or the three gradients, are stored.

A tensor of heads is told as where it is and how far one position is from the next: the heads of a
position lie side by side, and the positions of all rows one after the other.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

WARPS = 4
"""Of 32 threads, that compute a tile together."""

SIZES = ["mask_row", "mask_query", "num_queries", "num_keys"]
"""Triton compiles each kernel anew for multiples of 16, but not because of these."""


def attend_in_tiles(
    given: tuple[Tensor, Tensor, Tensor], mask: Tensor, found: Tensor, *, tile: int
) -> None:
    """Compute `attend` of queries, keys and values into `found`."""
    queries, keys, _ = given
    _attend[queries.shape[:2]](
        *_with_strides(*given, found),
        *_mask_and_sizes(queries, keys, mask),
        width=queries.size(3),
        tile=tile,
        num_warps=WARPS,
    )


def gradients_in_tiles(
    given: tuple[Tensor, ...], mask: Tensor, found: tuple[Tensor, ...], *, tile: int
) -> None:
    """Compute `attend_backward` of a gradient, queries, keys and values into `found`."""
    _, queries, keys, _ = given
    _go_back[queries.shape[:2]](
        *_with_strides(*given, *found),
        *_mask_and_sizes(queries, keys, mask),
        width=queries.size(3),
        tile=tile,
        num_warps=WARPS,
    )


def _with_strides(*tensors: Tensor) -> list[Tensor | int]:
    """Return each tensor, or a copy that is laid out as the kernels want it, and its stride."""
    arguments: list[Tensor | int] = []
    for tensor in tensors:
        _, heads, length, d_k = tensor.shape
        row, head, position, number = tensor.stride()
        if (row, head, number) == (length * position, d_k, 1):
            arguments += [tensor, position]
        else:  # how far a single position is from the next may be anything, even in a copy
            arguments += [tensor.transpose(1, 2).contiguous(), heads * d_k]
    return arguments


def _mask_and_sizes(queries: Tensor, keys: Tensor, mask: Tensor) -> list[Tensor | int | float]:
    """Return the mask with its strides, 0 where it is one for all, the lengths and the scale."""
    mask = mask.contiguous()
    row, query = (0 if mask.size(dim) == 1 else mask.stride(dim) for dim in (0, 2))
    scale = 1.0 / math.sqrt(queries.size(3))
    return [mask.view(torch.uint8), row, query, queries.size(2), keys.size(2), scale]


@triton.jit
def _places(length, stride, width: tl.constexpr, tile: tl.constexpr):
    """Return where the vectors of this row and head are, and which of them there are."""
    position = tl.arange(0, tile)
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    begin = row * length * stride + head * width
    places = begin + position[:, None] * stride + tl.arange(0, width)[None, :]
    return places, position[:, None] < length


@triton.jit
def _load(tensor, length, stride, width: tl.constexpr, tile: tl.constexpr):
    places, there = _places(length, stride, width, tile)
    return tl.load(tensor + places, mask=there, other=0.0)


@triton.jit
def _store(tensor, length, stride, vectors, width: tl.constexpr, tile: tl.constexpr):
    places, there = _places(length, stride, width, tile)
    tl.store(tensor + places, vectors.to(tensor.dtype.element_ty), mask=there)


@triton.jit
def _weights(
    queries, keys, mask, mask_row, mask_query, num_queries, num_keys, scale, tile: tl.constexpr
):
    """Compute softmax(Q K^T / sqrt(d_k)); a query that is not there sees nothing."""
    query, key = tl.arange(0, tile)[:, None], tl.arange(0, tile)[None, :]
    there = (query < num_queries) & (key < num_keys)
    places = tl.program_id(0).to(tl.int64) * mask_row + query * mask_query + key
    visible = tl.load(mask + places, mask=there, other=0) != 0
    scores = tl.where(visible, tl.dot(queries, tl.trans(keys)) * scale, float("-inf"))
    largest = tl.max(scores, axis=1)[:, None]
    exponentials = tl.where(visible, tl.exp(scores - largest), 0.0)
    total = tl.sum(exponentials, axis=1)[:, None]
    return exponentials / tl.where(total == 0.0, 1.0, total)


@triton.jit(do_not_specialize=SIZES)
def _attend(
    queries,
    queries_stride,
    keys,
    keys_stride,
    values,
    values_stride,
    found,
    found_stride,
    mask,
    mask_row,
    mask_query,
    num_queries,
    num_keys,
    scale,
    width: tl.constexpr,
    tile: tl.constexpr,
):
    """Compute equation 1."""
    q = _load(queries, num_queries, queries_stride, width, tile)
    k = _load(keys, num_keys, keys_stride, width, tile)
    v = _load(values, num_keys, values_stride, width, tile)
    weights = _weights(q, k, mask, mask_row, mask_query, num_queries, num_keys, scale, tile)
    _store(found, num_queries, found_stride, tl.dot(weights.to(v.dtype), v), width, tile)


@triton.jit(do_not_specialize=SIZES)
def _go_back(
    gradient,
    gradient_stride,
    queries,
    queries_stride,
    keys,
    keys_stride,
    values,
    values_stride,
    of_queries,
    of_queries_stride,
    of_keys,
    of_keys_stride,
    of_values,
    of_values_stride,
    mask,
    mask_row,
    mask_query,
    num_queries,
    num_keys,
    scale,
    width: tl.constexpr,
    tile: tl.constexpr,
):
    """Compute the weights again, then the chain rule."""
    q = _load(queries, num_queries, queries_stride, width, tile)
    k = _load(keys, num_keys, keys_stride, width, tile)
    v = _load(values, num_keys, values_stride, width, tile)
    given = _load(gradient, num_queries, gradient_stride, width, tile)
    weights = _weights(q, k, mask, mask_row, mask_query, num_queries, num_keys, scale, tile)
    of_v = tl.dot(tl.trans(weights.to(v.dtype)), given)
    _store(of_values, num_keys, of_values_stride, of_v, width, tile)
    of_weights = tl.dot(given, tl.trans(v))
    mean = tl.sum(of_weights * weights, axis=1)[:, None]
    of_scores = (weights * (of_weights - mean) * scale).to(q.dtype)
    _store(of_queries, num_queries, of_queries_stride, tl.dot(of_scores, k), width, tile)
    _store(of_keys, num_keys, of_keys_stride, tl.dot(tl.trans(of_scores), q), width, tile)
