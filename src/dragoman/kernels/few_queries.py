"""What `dragoman.model.few_queries` does on a GPU.

Each program computes one head of one row: the queries are loaded once, keys and values tile by
tile, with the sums kept relative to the largest score so far (Dao et al. 2022, algorithm 1).
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

QUERIES = tl.constexpr(16)
"""A processor multiplies matrices of at least so many rows, there or not."""

KEYS = tl.constexpr(32)
"""How many are loaded at a time."""

SIZES = ["mask_row", "mask_query", "num_queries", "num_keys"]
"""Triton compiles the kernel anew for multiples of 16, but not because of these."""


def attend_to_cache(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, found: Tensor
) -> None:
    """Compute `attend_with_few` into `found`, whose vectors lie one by one, as most do."""
    queries, keys, values = (
        each if each.stride(3) == 1 else each.contiguous() for each in (queries, keys, values)
    )
    mask = mask.contiguous()
    mask_row, mask_query = (0 if mask.size(dim) == 1 else mask.stride(dim) for dim in (0, 2))
    strides = [stride for each in (queries, keys, values, found) for stride in each.stride()[:3]]
    _attend[queries.shape[:2]](
        queries,
        keys,
        values,
        found,
        *strides,
        mask.view(torch.uint8),
        mask_row,
        mask_query,
        queries.size(2),
        keys.size(2),
        1.0 / math.sqrt(queries.size(3)),
        width=queries.size(3),
        num_warps=1,
    )


@triton.jit
def _places(begin, position, row_stride, head_stride, position_stride, width: tl.constexpr):
    """Return where the vectors of this row and head are."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    vectors = begin + row * row_stride + head * head_stride
    return vectors + position * position_stride + tl.arange(0, width)[None, :]


@triton.jit(do_not_specialize=SIZES)
def _attend(
    queries,
    keys,
    values,
    found,
    queries_row,
    queries_head,
    queries_position,
    keys_row,
    keys_head,
    keys_position,
    values_row,
    values_head,
    values_position,
    found_row,
    found_head,
    found_position,
    mask,
    mask_row,
    mask_query,
    num_queries,
    num_keys,
    scale,
    width: tl.constexpr,
):
    """Compute equation 1; a query that sees nothing gets zeros."""
    query = tl.arange(0, QUERIES)[:, None]
    is_query = query < num_queries
    q = tl.load(
        _places(queries, query, queries_row, queries_head, queries_position, width), mask=is_query
    )
    of_queries = mask + tl.program_id(0).to(tl.int64) * mask_row + query * mask_query
    largest = tl.full([QUERIES, 1], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES, 1], tl.float32)
    sums = tl.zeros([QUERIES, width], tl.float32)
    for first in range(0, num_keys, KEYS):
        key = first + tl.arange(0, KEYS)
        there = key[None, :] < num_keys
        is_visible = tl.load(of_queries + key[None, :], mask=is_query & there, other=0) != 0
        if tl.max(is_visible.to(tl.int32)) > 0:  # hidden tiles are not read
            position, is_key = key[:, None], key[:, None] < num_keys
            places = _places(keys, position, keys_row, keys_head, keys_position, width)
            k = tl.load(places, mask=is_key, other=0.0)
            places = _places(values, position, values_row, values_head, values_position, width)
            v = tl.load(places, mask=is_key, other=0.0)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
            scores = tl.where(is_visible, scores, float("-inf"))
            larger = tl.maximum(largest, tl.max(scores, axis=1)[:, None])
            base = tl.where(larger == float("-inf"), 0.0, larger)
            exponentials, change = tl.exp(scores - base), tl.exp(largest - base)
            total = total * change + tl.sum(exponentials, axis=1)[:, None]
            weighted = tl.dot(exponentials.to(v.dtype), v, input_precision="ieee")
            sums = sums * change + weighted
            largest = larger
    heads = sums / tl.where(total == 0.0, 1.0, total)
    to = _places(found, query, found_row, found_head, found_position, width)
    tl.store(to, heads.to(found.dtype.element_ty), mask=is_query)
