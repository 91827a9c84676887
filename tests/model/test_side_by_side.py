"""Sentences that share a row of attention see what they saw before, and nothing of each other."""

import pytest
import torch
from tests.model.test_on_gpu import attended

from dragoman.model.attention import ScaledDotProductAttention, attention_weights
from dragoman.model.masks import causal_mask, padding_mask, sentences_in_a_tile, side_by_side

LENGTHS = {8: 8, 9: 4, 16: 4, 17: 2, 32: 2, 33: 1, 100: 1}
"""Of the longer side, and how many such sentences go into a tile of 64."""


@pytest.mark.parametrize(("length", "count"), LENGTHS.items())
def test_a_tile_holds_as_many_sentences_as_fit(length: int, count: int) -> None:
    assert sentences_in_a_tile(24, length, 5) == sentences_in_a_tile(24, 5, length) == count


@pytest.mark.parametrize(("batch", "count"), [(8, 8), (12, 4), (6, 2), (7, 1), (1, 1)])
def test_all_rows_hold_equally_many(batch: int, count: int) -> None:
    assert sentences_in_a_tile(batch, 3, 3) == count


@pytest.mark.parametrize(("queries", "memory"), [(5, 7), (7, 5), (6, 6), (33, 20)])
@pytest.mark.parametrize("batch", [8, 6, 3])
def test_attention_is_that_of_each_sentence_alone(batch: int, queries: int, memory: int) -> None:
    tokens = torch.arange(batch)[:, None] + 1 > torch.arange(memory)[None] - 2
    mask = padding_mask(tokens.int(), padding_id=0)
    if queries == memory:
        mask = mask & causal_mask(queries)
    lengths = (queries, memory, memory)
    tensors = [torch.randn(batch, length, 3, 16).transpose(1, 2) for length in lengths]
    rows = side_by_side(mask, queries)

    ours = attended(tensors, lambda q, k, v: ScaledDotProductAttention().fused(q, k, v, rows))

    assert len(rows) == batch // sentences_in_a_tile(batch, queries, memory)
    for found, expected in zip(
        ours, attended(tensors, lambda q, k, v: attention_weights(q, k, mask) @ v), strict=True
    ):
        torch.testing.assert_close(found, expected)
