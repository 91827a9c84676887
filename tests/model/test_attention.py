"""Multi-head attention: it equals PyTorch's, and it obeys its masks."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
)
from dragoman.model.config import TransformerConfig

Twin = Callable[[nn.Module, TransformerConfig], nn.Module]

BATCH, QUERY, MEMORY, D_MODEL, NUM_HEADS = 3, 4, 5, 12, 2
CONFIG = TransformerConfig(d_model=D_MODEL, num_heads=NUM_HEADS)


@pytest.fixture
def layer() -> MultiHeadAttention:
    return MultiHeadAttention(D_MODEL, NUM_HEADS).eval()


@pytest.fixture
def queries() -> Tensor:
    return torch.randn(BATCH, QUERY, D_MODEL)


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(BATCH, MEMORY, D_MODEL)


def causal(length: int) -> Tensor:
    return torch.ones(1, 1, length, length, dtype=torch.bool).tril()


def test_equals_the_attention_of_pytorch(
    layer: MultiHeadAttention, queries: Tensor, memory: Tensor, twin: Twin
) -> None:
    visible = torch.rand(BATCH, 1, QUERY, MEMORY) > 0.4
    visible[..., 0] = True

    expected, _ = twin(layer, CONFIG)(
        queries, memory, memory, attn_mask=~visible.repeat(1, NUM_HEADS, 1, 1).flatten(0, 1)
    )

    actual = layer(queries, layer.project(memory), visible)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_the_maps_equal_those_of_pytorch(
    layer: MultiHeadAttention, queries: Tensor, memory: Tensor, twin: Twin
) -> None:
    maps = []
    layer.attention.register_forward_hook(
        lambda _, inputs, __: maps.append(attention_weights(inputs[0], inputs[1], None))
    )

    layer(queries, layer.project(memory))

    _, expected = twin(layer, CONFIG)(queries, memory, memory, average_attn_weights=False)
    torch.testing.assert_close(maps[0], expected, atol=1e-5, rtol=0)


def test_a_position_ignores_the_positions_hidden_from_it(
    layer: MultiHeadAttention, memory: Tensor
) -> None:
    changed = memory.clone()
    changed[:, -1] += 1.0

    before = layer(memory, layer.project(memory), causal(MEMORY))
    after = layer(changed, layer.project(changed), causal(MEMORY))

    assert torch.equal(before[:, :-1], after[:, :-1])
    assert not torch.equal(before[:, -1], after[:, -1])


def test_hidden_positions_get_exactly_no_weight() -> None:
    x = torch.randn(BATCH, NUM_HEADS, MEMORY, 6)

    weights = attention_weights(x, x, causal(MEMORY))

    assert (weights.triu(diagonal=1) == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(BATCH, NUM_HEADS, MEMORY))


@pytest.mark.parametrize("masked", [True, False])
def test_the_fused_way_computes_the_equation(masked: bool) -> None:
    attention = ScaledDotProductAttention(dropout=0.5).eval()
    shape = (BATCH, NUM_HEADS, QUERY, D_MODEL // NUM_HEADS)
    tensors = [torch.randn(shape, requires_grad=True) for _ in range(3)]
    queries, keys, values = tensors
    mask = causal(QUERY) if masked else None

    found = attention.fused(queries, keys, values, mask)
    expected = attention.equation(queries, keys, values, mask)

    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(
        torch.autograd.grad(found.sin().sum(), tensors),
        torch.autograd.grad(expected.sin().sum(), tensors),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("way", ["fused", "equation"])
def test_both_ways_drop_weights_when_they_learn(way: str) -> None:
    attention = ScaledDotProductAttention(dropout=0.25)
    queries, keys = torch.zeros(2, 4, 2, 200, 8)
    values = torch.eye(200).expand(4, 2, 200, 200)

    weights = getattr(attention, way)(queries, keys, values, None) * 200

    assert 0.74 < (weights > 0).float().mean() < 0.76
    assert weights.max().item() == pytest.approx(4 / 3, rel=0.01)
    assert weights.mean().item() == pytest.approx(1.0, abs=0.01)


def test_masks_work_in_half_precision() -> None:
    x = torch.randn(BATCH, NUM_HEADS, MEMORY, 6)

    half = attention_weights(x.half(), x.half(), causal(MEMORY))

    torch.testing.assert_close(
        half.float(), attention_weights(x, x, causal(MEMORY)), atol=2e-3, rtol=0
    )


def test_without_positions_attention_is_permutation_equivariant(
    layer: MultiHeadAttention, memory: Tensor
) -> None:
    order = torch.tensor([3, 0, 4, 1, 2])

    of_permuted = layer(memory[:, order], layer.project(memory[:, order]))
    permuted = layer(memory, layer.project(memory))[:, order]

    torch.testing.assert_close(of_permuted, permuted, atol=1e-5, rtol=0)


def test_one_position_at_a_time_equals_all_positions_at_once(
    layer: MultiHeadAttention, memory: Tensor
) -> None:
    first, *others = memory.split(1, dim=1)
    seen = layer.project(first)
    steps = [layer(first, seen)]
    for token in others:
        seen = seen.append(layer.project(token))
        steps.append(layer(token, seen))

    expected = layer(memory, layer.project(memory), causal(MEMORY))
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=1e-5, rtol=0)


def test_attention_to_equal_keys_is_the_mean_of_the_values() -> None:
    layer = MultiHeadAttention(d_model=2, num_heads=1).eval()
    nn.init.zeros_(layer.key_projection.weight)
    for linear in (layer.value_projection, layer.output_projection):
        nn.init.eye_(linear.weight)
        nn.init.zeros_(linear.bias)
    x = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]])

    torch.testing.assert_close(layer(x, layer.project(x)), torch.tensor([[[2.0, 2.0]] * 2]))


def test_scores_are_divided_by_the_root_of_the_width_of_a_head() -> None:
    query = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]])
    keys = torch.eye(4)[None, None, :3]

    odds = math.exp(2.0 / math.sqrt(4))
    expected = torch.tensor([[[[odds, 1.0, 1.0]]]]) / (odds + 2)

    torch.testing.assert_close(attention_weights(query, keys, None), expected)


def test_dropout_acts_on_the_weights_and_the_maps_do_not_show_it() -> None:
    attention = ScaledDotProductAttention(dropout=0.5).train()
    queries, keys = torch.randn(2, 8, 2, 64, 64)
    identity = torch.eye(64).expand(8, 2, 64, 64)

    dropped = attention(queries, keys, identity)

    weights = attention_weights(queries, keys, None)
    survived = dropped != 0
    assert 0.45 < survived.float().mean() < 0.55
    torch.testing.assert_close(dropped[survived], 2 * weights[survived])
    assert (weights > 0).all()


def test_the_heads_must_divide_the_model() -> None:
    with pytest.raises(ValueError, match="d_model=10 is not a multiple of num_heads=4"):
        MultiHeadAttention(d_model=10, num_heads=4)
