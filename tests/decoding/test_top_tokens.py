"""The best tokens by blocks are the best of all."""

import pytest
import torch

from dragoman.decoding.top_tokens import BLOCK, top_tokens


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("vocab_size", [20, 5 * BLOCK, 40 * BLOCK, 40 * BLOCK + 1, 41 * BLOCK - 1])
def test_they_are_those_of_topk(vocab_size: int, count: int) -> None:
    scores = torch.randn(50, 2, vocab_size)

    best, tokens = top_tokens(scores, count)

    expected = scores.topk(count, dim=-1)
    assert torch.equal(best, expected.values)
    assert torch.equal(tokens, expected.indices)


@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, 40 * BLOCK - 1, 40 * BLOCK, 40 * BLOCK + 6])
def test_no_place_is_overlooked(place: int) -> None:
    scores = torch.zeros(1, 40 * BLOCK + 7)
    scores[0, place] = 1.0

    best, tokens = top_tokens(scores, 1)

    assert (best.item(), tokens.item()) == (1.0, place)


def test_the_best_may_all_stand_in_one_block() -> None:
    scores = torch.zeros(1, 40 * BLOCK)
    scores[0, 5 * BLOCK : 5 * BLOCK + 8] = torch.arange(8.0, 0.0, -1.0)

    assert top_tokens(scores, 8)[1].tolist() == [[5 * BLOCK + i for i in range(8)]]


def test_minus_infinity_everywhere_gives_tokens_all_the_same() -> None:
    best, tokens = top_tokens(torch.full((2, 40 * BLOCK), -torch.inf), 4)

    assert best.isneginf().all()
    assert all(len(set(row)) == 4 for row in tokens.tolist())
