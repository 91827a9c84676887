"""The encoder equals PyTorch's, block by block and as a stack."""

from collections.abc import Callable
from typing import Literal

import pytest
import torch
from torch import nn

from dragoman.model.config import TransformerConfig
from dragoman.model.encoder import Encoder
from dragoman.model.masks import padding_mask

from .conftest import scramble

Twin = Callable[[nn.Module, TransformerConfig], nn.Module]

TOKENS = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [4, 5, 3, 0, 0, 0, 0], [5, 6, 7, 8, 3, 0, 0]])
MASK = padding_mask(TOKENS, 0)


@pytest.fixture(params=["before", "after"])
def norm(request: pytest.FixtureRequest) -> Literal["before", "after"]:
    return request.param


def config(norm: Literal["before", "after"]) -> TransformerConfig:
    return TransformerConfig(
        d_model=12, d_ff=20, num_heads=3, num_encoder_layers=2, dropout=0.0, norm=norm
    )


def scrambled(encoder: Encoder) -> Encoder:
    scramble(encoder)
    return encoder.eval()


def test_a_block_equals_the_encoder_layer_of_pytorch(
    norm: Literal["before", "after"], twin: Twin
) -> None:
    block = scrambled(Encoder(config(norm))).blocks[0]
    x = torch.randn(3, 7, 12)

    expected = twin(block, config(norm))(x, src_key_padding_mask=TOKENS == 0)

    torch.testing.assert_close(block(x, MASK), expected, atol=1e-5, rtol=0)


def test_the_stack_equals_the_encoder_of_pytorch(
    norm: Literal["before", "after"], twin: Twin
) -> None:
    encoder = scrambled(Encoder(config(norm)))
    x = torch.randn(3, 7, 12)

    expected = twin(encoder, config(norm))(x, src_key_padding_mask=TOKENS == 0)

    torch.testing.assert_close(encoder(x, MASK), expected, atol=1e-5, rtol=0)


def test_each_block_has_weights_of_its_own(norm: Literal["before", "after"]) -> None:
    first, second = Encoder(config(norm)).blocks

    assert not {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}


def test_the_stack_ends_in_a_norm_only_if_blocks_begin_with_one() -> None:
    x = 5 * torch.randn(3, 7, 12) + 2

    before = Encoder(config("before")).eval()(x, MASK)
    torch.testing.assert_close(before.mean(-1), torch.zeros(3, 7), atol=1e-5, rtol=0)

    assert isinstance(Encoder(config("after")).norm, nn.Identity)
