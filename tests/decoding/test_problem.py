"""What a search is told of the next tokens."""

import math
from dataclasses import replace

import pytest
import torch
from tests.decoding.table_model import UNK, Prefixes, problem, random_model

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.problem import IN_CACHE

VOCAB = 3000
RANDOM = random_model(1, vocab_size=9)


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


def test_probabilities_of_logits_in_half_precision_are_computed_in_single_precision() -> None:
    logits = torch.randn(2, 3, VOCAB).bfloat16()

    found = problem([], forbidden=()).log_probabilities(logits)

    assert found.dtype == torch.float32
    assert torch.equal(found, logits.float().log_softmax(dim=-1))


def test_what_a_translation_begins_with_is_judged_though_it_is_forbidden() -> None:
    posed = problem([RANDOM], forced_prefixes=[(UNK, 4)], forbidden=(UNK,))

    def step(tokens: torch.Tensor, state: Prefixes) -> tuple[torch.Tensor, Prefixes]:
        logits, state = posed.step(tokens, state)
        return logits.bfloat16(), state

    values = replace(posed, step=step).begin(2).token_log_probabilities

    expected = [
        torch.tensor(RANDOM(before)).bfloat16().float().log_softmax(0)[token].item()
        for before, token in (((), UNK), ((UNK,), 4))
    ]
    assert values.tolist() == [[pytest.approx(expected, abs=1e-6)] * 2]


def test_what_a_translation_begins_with_leaves_room_for_more() -> None:
    posed = problem([RANDOM], source_lengths=[1], forced_prefixes=[[4] * 30])

    assert posed.limits(SearchConfig(max_length_ratio=2.0, max_length_extra=20)) == [50]
