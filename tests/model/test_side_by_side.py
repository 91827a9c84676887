"""Sentences that share a row of attention see what they saw before, and nothing of each other."""

import pytest
import torch
from tests.model.test_on_gpu import attended
from torch import Tensor, nn

from dragoman.model.attention import ScaledDotProductAttention, attention_weights
from dragoman.model.config import TransformerConfig
from dragoman.model.fused_attention import sentences_in_a_tile, side_by_side
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.model.transformer import Transformer

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


class AsOnGpu(Tensor):
    """Tokens that a model takes for those of a GPU, and so all that it computes from them."""

    is_cuda = True


class Attention(nn.Module):
    """One of a researcher's own, which knows of equation 1 and of nothing else."""

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        assert mask.size(3) == keys.size(2)
        return attention_weights(queries, keys, mask) @ values


@pytest.mark.parametrize("own", [False, True])
def test_an_attention_of_ones_own_never_sees_sentences_side_by_side(own: bool) -> None:
    config = TransformerConfig(
        d_model=8, d_ff=8, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, dropout=0.0
    )
    model = Transformer(config, source_vocab_size=9, target_vocab_size=9, padding_id=0).train()
    source, target = torch.randint(1, 9, (8, 5)), torch.randint(1, 9, (8, 4))
    expected = model(source, target)
    rows: list[int] = []
    attention = Attention() if own else ScaledDotProductAttention()
    attention.register_forward_pre_hook(lambda _, arguments: rows.append(len(arguments[3])))
    model.decoder.blocks[0].get_submodule("cross_attention").attention = attention

    found = model(source.as_subclass(AsOnGpu), target.as_subclass(AsOnGpu))

    torch.testing.assert_close(found.as_subclass(Tensor), expected)
    assert rows == [8 if own else 1]
