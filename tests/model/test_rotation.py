"""Rotary positions: the turning by hand, and what a model with them can and cannot see."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dragoman.model.config import TransformerConfig
from dragoman.model.positional_encoding import RotaryEncoding
from dragoman.model.rotation import Rotation
from dragoman.model.transformer import Transformer

Build = Callable[..., Transformer]

LENGTH, D_HEAD = 7, 6


def heads() -> Tensor:
    """Make queries or keys, laid out as attention has them."""
    return torch.randn(2, LENGTH, 3, D_HEAD).transpose(1, 2)


def test_each_pair_is_turned_by_the_angle_of_its_position() -> None:
    x = heads()
    expected = torch.empty_like(x)
    for position in range(LENGTH):
        for i in range(D_HEAD // 2):
            angle = (5 + position) / 10000 ** (2 * i / D_HEAD)
            sine, cosine = math.sin(angle), math.cos(angle)
            matrix = torch.tensor([[cosine, -sine], [sine, cosine]])
            pair = x[..., position, 2 * i : 2 * i + 2]
            expected[..., position, 2 * i : 2 * i + 2] = pair @ matrix.T

    turned = RotaryEncoding(D_HEAD).rotation(LENGTH, first_position=5)(x)

    torch.testing.assert_close(turned, expected, atol=1e-5, rtol=0)


def test_complex_numbers_compute_what_is_written() -> None:
    rotate, x = RotaryEncoding(D_HEAD).rotation(LENGTH, first_position=3), heads()
    assert isinstance(rotate, Rotation)

    torch.testing.assert_close(rotate(x), rotate.equation(x))
    assert rotate.equation(x.bfloat16()).dtype == torch.bfloat16


def test_the_gradient_is_turned_back() -> None:
    x, gradient = heads().requires_grad_(), heads()
    positions = RotaryEncoding(D_HEAD)

    positions.rotation(LENGTH)(x).backward(gradient)

    assert x.grad is not None
    torch.testing.assert_close(positions.rotation(LENGTH)(x.grad), gradient)


def test_a_dot_product_knows_the_distance_and_not_the_place() -> None:
    positions, queries, keys = RotaryEncoding(D_HEAD), heads(), heads()

    near, far = (
        rotate(queries) @ rotate(keys).transpose(-2, -1)
        for rotate in (positions.rotation(LENGTH, first_position=at) for at in (0, 1000))
    )

    torch.testing.assert_close(near, far, atol=1e-3, rtol=0)
    still = queries @ keys.transpose(-2, -1)
    assert not torch.allclose(near, still, atol=0.1)
    torch.testing.assert_close(near.diagonal(dim1=-2, dim2=-1), still.diagonal(dim1=-2, dim2=-1))


def test_half_precision_comes_back_as_it_was() -> None:
    positions = RotaryEncoding(D_HEAD)
    expected = positions.rotation(LENGTH)(x := heads())

    turned = positions.to(torch.bfloat16).rotation(LENGTH)(x.bfloat16())

    assert turned.dtype == torch.bfloat16
    torch.testing.assert_close(turned.float(), expected, atol=0.05, rtol=0)


def test_nothing_is_added_learnt_or_saved() -> None:
    positions, x = RotaryEncoding(D_HEAD), torch.randn(2, 300, 12)

    assert torch.equal(positions(x, first_position=3), x)
    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}


def test_a_model_sees_the_order_of_its_source_and_of_its_target(build: Build) -> None:
    model = build(positional_encoding="rotary")
    source, target = torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 10, 11]])
    logits = model(source, target)

    turned = model(source[:, [1, 0, 2, 3, 4]], target)
    other_past = model(source, target[:, [0, 2, 1, 3]])

    assert not torch.allclose(turned, logits, atol=1e-3)
    assert not torch.allclose(other_past[:, 3], logits[:, 3], atol=1e-3)


def test_the_encoder_reads_a_source_alike_wherever_it_begins(build: Build) -> None:
    model = build(positional_encoding="rotary")
    x = torch.randn(1, LENGTH, model.config.d_model)

    here, there = (
        model.encoder(x, None, model.positions.rotation(LENGTH, first_position=at))
        for at in (0, 500)
    )

    torch.testing.assert_close(here, there, atol=1e-4, rtol=0)


def test_heads_of_an_odd_width_are_refused() -> None:
    with pytest.raises(ValueError, match=r"heads of 3 dimensions, which .* cannot turn in pairs"):
        TransformerConfig(d_model=12, num_heads=4, positional_encoding="rotary")
    assert TransformerConfig(d_model=12, num_heads=4).d_k == 3  # sinusoids do not mind
