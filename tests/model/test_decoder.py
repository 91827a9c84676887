"""The decoder equals PyTorch's, and its state is one that decoding can cut and reorder."""

from collections.abc import Callable
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import Decoder
from dragoman.model.decoder_state import SLOTS_AT_ONCE, DecoderState
from dragoman.model.masks import causal_mask, padding_mask

from .conftest import scramble

Twin = Callable[[nn.Module, TransformerConfig], nn.Module]

SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [4, 5, 3, 0, 0, 0, 0], [5, 6, 7, 8, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 0, 0], [2, 5, 6, 7, 8], [2, 4, 0, 0, 0]])
SOURCE_MASK = padding_mask(SOURCE, 0)
TARGET_MASK = padding_mask(TARGET, 0) & causal_mask(5)
D_MODEL = 12


@pytest.fixture(params=["before", "after"])
def config(request: pytest.FixtureRequest) -> TransformerConfig:
    norm: Literal["before", "after"] = request.param
    return TransformerConfig(
        d_model=D_MODEL, d_ff=20, num_heads=3, num_decoder_layers=2, dropout=0.0, norm=norm
    )


@pytest.fixture
def decoder(config: TransformerConfig) -> Decoder:
    decoder = Decoder(config)
    scramble(decoder)
    return decoder.eval()


@pytest.fixture
def x() -> Tensor:
    return torch.randn(3, 5, D_MODEL)


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(3, 7, D_MODEL)


PYTORCH_MASKS = {
    "tgt_mask": ~causal_mask(5)[0, 0],
    "tgt_key_padding_mask": TARGET == 0,
    "memory_key_padding_mask": SOURCE == 0,
}


def advance(decoder: Decoder, x: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
    """Decode the positions in x one at a time."""
    outputs = []
    for position in x.split(1, dim=1):
        state = state.extend()
        output, state = decoder.advance(position, state)
        outputs.append(output)
    return torch.cat(outputs, dim=1), state


def test_a_block_equals_the_decoder_layer_of_pytorch(
    decoder: Decoder, config: TransformerConfig, x: Tensor, memory: Tensor, twin: Twin
) -> None:
    block = decoder.blocks[0]

    actual = block(x, memory, TARGET_MASK, SOURCE_MASK)

    expected = twin(block, config)(x, memory, **PYTORCH_MASKS)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_the_stack_equals_the_decoder_of_pytorch(
    decoder: Decoder, config: TransformerConfig, x: Tensor, memory: Tensor, twin: Twin
) -> None:
    actual = decoder(x, memory, TARGET_MASK, SOURCE_MASK)

    expected = twin(decoder, config)(x, memory, **PYTORCH_MASKS)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_one_position_at_a_time_equals_all_positions_at_once(
    decoder: Decoder, x: Tensor, memory: Tensor
) -> None:
    expected = decoder(x, memory, causal_mask(5), SOURCE_MASK)

    actual, _ = advance(decoder, x, decoder.start(memory, SOURCE_MASK))

    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def test_the_state_before_the_first_token_may_be_continued_twice(
    decoder: Decoder, x: Tensor, memory: Tensor
) -> None:
    start = decoder.start(memory, SOURCE_MASK)

    once, state = advance(decoder, x[:, :2], start)
    advance(decoder, x[:, 2:], start)
    rest, _ = advance(decoder, x[:, 2:], state)

    expected, _ = advance(decoder, x, start)
    assert torch.equal(torch.cat([once, rest], dim=1), expected)


def test_select_continues_the_kept_rows_as_if_the_others_had_never_been(
    decoder: Decoder, x: Tensor, memory: Tensor
) -> None:
    rows = torch.tensor([2, 0])
    _, state = advance(decoder, x[:, :3], decoder.start(memory, SOURCE_MASK))

    actual, _ = advance(decoder, x[rows, 3:], state.select(rows))

    alone = decoder.start(memory[rows], SOURCE_MASK[rows])
    expected, _ = advance(decoder, x[rows], alone)
    torch.testing.assert_close(actual, expected[:, 3:], atol=1e-5, rtol=0)


def test_select_before_the_first_token_repeats_a_sentence_for_a_beam(
    decoder: Decoder, x: Tensor, memory: Tensor
) -> None:
    rows = torch.tensor([1, 1, 1])

    actual, _ = advance(decoder, x, decoder.start(memory, SOURCE_MASK).select(rows))

    expected, _ = advance(decoder, x, decoder.start(memory[rows], SOURCE_MASK[rows]))
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=0)


def take_step(decoder: Decoder, state: DecoderState) -> DecoderState:
    """Decode a token of each prefix."""
    state = state.extend()
    _, state = decoder.advance(torch.zeros(*state.visible.shape[:2], D_MODEL), state)
    return state


def test_each_prefix_sees_its_line_of_descent_and_nothing_else(
    decoder: Decoder, memory: Tensor
) -> None:
    state = decoder.start(memory, SOURCE_MASK).reorder(torch.zeros(3, 2, dtype=torch.long))

    state = take_step(decoder, state)
    state = state.reorder(torch.tensor([[1, 0], [1, 1], [0, 1]]))
    state = take_step(decoder, state)

    assert state.mask[0, 0, :, :4].int().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert state.mask[1, 0, :, :4].int().tolist() == [[0, 1, 1, 0], [0, 1, 0, 1]]
    assert not state.mask[:, :, :, 4:].any()


def test_what_no_prefix_descends_from_is_left_behind(decoder: Decoder, memory: Tensor) -> None:
    """Each token of the first prefix continues the first one, and the others are dropped."""
    width, steps = 4, 40
    state = decoder.start(memory, SOURCE_MASK).reorder(torch.zeros(3, width, dtype=torch.long))
    for _ in range(steps):
        state = take_step(decoder, state)
        state = state.reorder(torch.zeros(3, width, dtype=torch.long))

    target = state.blocks[0].target
    assert target is not None
    assert target.keys.size(2) <= steps + 2 * SLOTS_AT_ONCE  # and not steps * width
    assert state.visible.sum(dim=2).eq(steps).all()


@pytest.mark.parametrize("width", range(1, 9))
def test_what_longer_company_adds_is_whole_sixteens_of_places(
    decoder: Decoder, memory: Tensor, width: int
) -> None:
    """In one sentence the prefixes part from the first token on, in the others from the last."""
    state = decoder.start(memory, SOURCE_MASK).reorder(torch.zeros(3, width, dtype=torch.long))
    one_line = torch.zeros(width, dtype=torch.long)
    for _ in range(20):
        state = take_step(decoder, state)
        state = state.reorder(torch.stack([torch.arange(width), one_line, one_line]))
        assert state.visible.size(2) % SLOTS_AT_ONCE == 0


def test_reorder_copies_neither_keys_nor_values(
    decoder: Decoder, x: Tensor, memory: Tensor
) -> None:
    _, state = advance(decoder, x, decoder.start(memory, SOURCE_MASK))

    reordered = state.reorder(torch.zeros(3, 1, dtype=torch.long))

    assert reordered.blocks is state.blocks
    assert reordered.source_mask is state.source_mask
