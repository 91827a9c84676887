"""Residual connections: where the norm stands and where dropout acts."""

from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.layer_norm import LayerNormalization, ScalarLayerNormalization
from dragoman.model.residual import ResidualConnection, build_norm, build_residual

D_MODEL = 6


def residual(norm: Literal["before", "after"], dropout: float = 0.0) -> ResidualConnection:
    config = TransformerConfig(d_model=D_MODEL, num_heads=2, norm=norm, dropout=dropout)
    connection = build_residual(config)
    for parameter in connection.parameters():
        nn.init.normal_(parameter)
    return connection.eval()


def sublayer(x: Tensor) -> Tensor:
    return 3 * x.flip(-1) + 1


def test_the_norm_stands_before_the_sublayer() -> None:
    connection, x = residual("before"), torch.randn(2, 5, D_MODEL)

    torch.testing.assert_close(connection(x, sublayer), x + sublayer(connection.norm(x)))


def test_the_norm_stands_after_the_sum() -> None:
    connection, x = residual("after"), torch.randn(2, 5, D_MODEL)

    torch.testing.assert_close(connection(x, sublayer), connection.norm(x + sublayer(x)))


@pytest.mark.parametrize("norm", ["before", "after"])
def test_dropout_acts_on_what_the_sublayer_gives(norm: Literal["before", "after"]) -> None:
    connection = residual(norm, dropout=0.5).train()
    connection.norm = nn.Identity()  # type: ignore[assignment]
    x = torch.randn(20, 50, D_MODEL)

    added = connection(x, torch.ones_like) - x

    assert 0.45 < torch.isclose(added, torch.zeros(()), atol=1e-6).float().mean() < 0.55
    assert added.max().item() == pytest.approx(2, abs=1e-5)


def test_the_norm_is_the_one_that_the_configuration_names() -> None:
    per_feature = build_norm(TransformerConfig(layer_norm_epsilon=0.5))
    scalar = build_norm(TransformerConfig(layer_norm="scalar", layer_norm_epsilon=0.5))

    assert isinstance(per_feature, LayerNormalization)
    assert isinstance(scalar, ScalarLayerNormalization)
    assert per_feature.epsilon == scalar.epsilon == 0.5
