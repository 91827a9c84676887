"""What a search is told of the next tokens."""

import math

import pytest
import torch
from tests.decoding.table_model import problem

from dragoman.decoding.problem import IN_CACHE

VOCAB = 3000


@pytest.mark.parametrize("sentences", [1, 2 * IN_CACHE // VOCAB // 4 + 1])
@pytest.mark.parametrize("count", [1, 8])
def test_the_most_probable_are_those_of_the_whole_distribution(sentences: int, count: int) -> None:
    logits = torch.randn(sentences, 4, VOCAB)
    logits[..., 7] = 9.0  # the best of all, and forbidden

    best, tokens = problem([], forbidden=(7,)).most_probable(logits, count)

    expected = logits.log_softmax(dim=-1)
    expected[..., 7] = -math.inf
    expected_best, expected_tokens = expected.topk(count, dim=-1)
    assert torch.equal(tokens, expected_tokens)
    assert torch.equal(best, expected_best)


def test_a_sentence_may_be_larger_than_the_cache() -> None:
    logits = torch.randn(2, 1, IN_CACHE + 1)

    best, tokens = problem([], forbidden=()).most_probable(logits, 2)

    expected = logits.log_softmax(dim=-1).topk(2, dim=-1)
    assert torch.equal(tokens, expected.indices)
    assert torch.equal(best, expected.values)
