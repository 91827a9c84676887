"""The feed-forward network: two matrices, something between them, each position on its own."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dragoman.model.feed_forward import FeedForward

D_MODEL, D_FF = 6, 10


@pytest.mark.parametrize(
    ("activation", "module"), [("relu", nn.ReLU()), ("gelu", nn.GELU()), ("silu", nn.SiLU())]
)
def test_equals_two_linear_layers_of_pytorch(activation: str, module: nn.Module) -> None:
    layer = FeedForward(D_MODEL, D_FF, activation=activation).eval()  # type: ignore[arg-type]
    reference = nn.Sequential(nn.Linear(D_MODEL, D_FF), module, nn.Linear(D_FF, D_MODEL))
    names = {"0": "widen", "2": "narrow"}
    reference.load_state_dict(
        {key: layer.get_parameter(names[key[0]] + key[1:]) for key in reference.state_dict()}
    )
    x = torch.randn(2, 5, D_MODEL)

    torch.testing.assert_close(layer(x), reference(x), atol=1e-5, rtol=0)


def test_equals_two_convolutions_of_width_one() -> None:
    layer = FeedForward(D_MODEL, D_FF).eval()
    x = torch.randn(2, 5, D_MODEL)

    hidden = F.conv1d(x.transpose(1, 2), layer.widen.weight[..., None], layer.widen.bias).relu()
    expected = F.conv1d(hidden, layer.narrow.weight[..., None], layer.narrow.bias)

    torch.testing.assert_close(layer(x), expected.transpose(1, 2), atol=1e-5, rtol=0)


def test_it_is_not_a_linear_map() -> None:
    layer = FeedForward(D_MODEL, D_FF).eval()
    x, y = torch.randn(2, 1, 5, D_MODEL)

    linear = layer(x) + layer(y) - layer(torch.zeros_like(x))

    assert (layer(x + y) - linear).abs().max() > 0.01


def test_a_position_does_not_see_its_neighbours() -> None:
    layer = FeedForward(D_MODEL, D_FF).eval()
    x = torch.randn(2, 5, D_MODEL)
    changed = x.clone()
    changed[:, 3] += 1.0

    same = torch.isclose(layer(x), layer(changed), atol=1e-6, rtol=0).all(dim=-1)

    assert same.tolist() == [[True, True, True, False, True]] * 2


def test_dropout_acts_on_the_hidden_layer() -> None:
    layer = FeedForward(64, 64, dropout=0.5).train()
    nn.init.eye_(layer.narrow.weight)
    nn.init.zeros_(layer.narrow.bias)
    x = torch.randn(8, 50, 64)

    hidden = layer(x)

    expected = layer.widen(x).relu()
    kept = hidden != 0
    torch.testing.assert_close(hidden[kept], 2 * expected[kept], atol=1e-5, rtol=0)
    assert 0.48 < kept[expected > 0].float().mean() < 0.52

    nn.init.ones_(layer.narrow.weight)  # of the sums of what is kept, none is dropped again
    sums = layer(x)
    torch.testing.assert_close(sums, sums[..., :1].expand_as(sums))
