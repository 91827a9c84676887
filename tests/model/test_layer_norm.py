"""Layer normalisation equals PyTorch's; the guides' form is what it says."""

import math

import pytest
import torch
from torch import nn

from dragoman.model.layer_norm import LayerNormalization, ScalarLayerNormalization

D_MODEL = 6


@pytest.fixture
def norm() -> LayerNormalization:
    norm = LayerNormalization(D_MODEL, epsilon=0.1)
    nn.init.normal_(norm.gain)
    nn.init.normal_(norm.bias)
    return norm


def test_equals_the_layer_norm_of_pytorch(norm: LayerNormalization) -> None:
    reference = nn.LayerNorm(D_MODEL, eps=0.1)
    reference.load_state_dict({"weight": norm.gain, "bias": norm.bias})
    x = 3 * torch.randn(2, 5, D_MODEL) + 1

    torch.testing.assert_close(norm(x), reference(x), atol=1e-5, rtol=0)
    torch.testing.assert_close(norm.equation(x), reference(x), atol=1e-5, rtol=0)


def test_a_fresh_norm_gives_each_vector_zero_mean_and_unit_variance() -> None:
    normed = LayerNormalization(D_MODEL)(3 * torch.randn(2, 5, D_MODEL) + 1)

    torch.testing.assert_close(normed.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0)
    torch.testing.assert_close(normed.var(-1, unbiased=False), torch.ones(2, 5), atol=1e-4, rtol=0)


def test_each_token_is_normalised_on_its_own(norm: LayerNormalization) -> None:
    x = torch.randn(2, 5, D_MODEL)

    torch.testing.assert_close(norm(x)[1, 3], norm(x[1, 3]))


def test_a_constant_vector_becomes_the_bias(norm: LayerNormalization) -> None:
    torch.testing.assert_close(norm(torch.full((D_MODEL,), 7.0)), norm.bias.detach())


def test_it_has_two_parameters_a_feature_and_the_scalar_form_two_in_all() -> None:
    assert sum(p.numel() for p in LayerNormalization(D_MODEL).parameters()) == 2 * D_MODEL
    assert sum(p.numel() for p in ScalarLayerNormalization().parameters()) == 2


def test_the_scalar_form_worked_by_hand() -> None:
    norm = ScalarLayerNormalization(epsilon=0.5)
    nn.init.constant_(norm.alpha, 2.0)
    nn.init.constant_(norm.bias, 0.25)
    x = torch.tensor([1.0, 2.0, 6.0])  # mean 3, squares 4 + 1 + 9 = 14, unbiased variance 7

    expected = [2 * (value - 3) / (math.sqrt(7) + 0.5) + 0.25 for value in (1, 2, 6)]

    assert norm(x).tolist() == pytest.approx(expected)


def test_both_forms_compute_in_the_number_format_of_their_gain() -> None:
    x = (3 * torch.randn(50, 512) + 4).to(torch.bfloat16)
    for norm in (LayerNormalization(512), ScalarLayerNormalization()):
        assert torch.equal(norm(x), norm(x.float()).to(torch.bfloat16))
