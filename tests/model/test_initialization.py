"""A fresh model: who is drawn from which distribution."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from dragoman.model.layer_norm import LayerNormalization
from dragoman.model.transformer import Transformer

Build = Callable[..., Transformer]


def test_matrices_are_xavier_uniform_and_biases_zero(build: Build) -> None:
    model = build(scrambled=False, d_model=96, d_ff=64, projection_bias=True)

    for linear in model.modules():
        if isinstance(linear, nn.Linear) and linear is not model.projection.linear:
            bound = (6 / (linear.in_features + linear.out_features)) ** 0.5
            assert linear.weight.abs().max() <= bound
            assert linear.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)
            assert (linear.bias == 0).all()
    assert (model.projection.linear.bias == 0).all()


def test_norms_begin_as_plain_normalisation(build: Build) -> None:
    for module in build(scrambled=False).modules():
        if isinstance(module, LayerNormalization):
            assert (module.gain == 1).all()
            assert (module.bias == 0).all()


@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_tables_are_normal_with_a_zero_row_for_padding(build: Build, tied: str) -> None:
    model = build(scrambled=False, d_model=384, tied_embeddings=tied)

    for embeddings in (model.source_embeddings, model.target_embeddings):
        assert (embeddings.table.weight[0] == 0).all()
        assert embeddings.table.weight[1:].std().item() == pytest.approx(384**-0.5, rel=0.05)


def test_first_logits_are_of_order_one(build: Build) -> None:
    model = build(scrambled=False, d_model=384)
    tokens = torch.randint(4, 23, (5, 9))

    assert 0.3 < model(tokens, tokens).std() < 3


def test_the_seed_decides_every_weight(build: Build) -> None:
    torch.manual_seed(5)
    first = build(scrambled=False)
    torch.manual_seed(5)
    again = build(scrambled=False)

    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)
