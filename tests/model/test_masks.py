"""Masks: True is visible, and every row sees something."""

import torch

from dragoman.model.masks import causal_mask, padding_mask

PADDING = 9


def test_padding_is_hidden_whatever_its_id() -> None:
    tokens = torch.tensor([[0, 4, 5], [4, PADDING, PADDING]])

    mask = padding_mask(tokens, PADDING)

    assert mask.shape == (2, 1, 1, 3)
    assert mask.flatten(1).tolist() == [[True, True, True], [True, False, False]]


def test_the_first_position_is_visible_even_in_a_row_of_padding() -> None:
    mask = padding_mask(torch.full((1, 3), PADDING), PADDING)

    assert mask.flatten().tolist() == [True, False, False]


def test_making_a_mask_leaves_the_tokens_alone() -> None:
    tokens = torch.full((2, 3), PADDING)

    padding_mask(tokens, PADDING)

    assert (tokens == PADDING).all()


def test_a_position_sees_itself_and_the_past() -> None:
    mask = causal_mask(3)

    assert mask.dtype == torch.bool
    assert mask.shape == (1, 1, 3, 3)
    assert mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]
