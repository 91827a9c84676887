"""Sampling: it draws what the model says, and a seed decides everything."""

import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from tests.decoding.table_model import Prefixes, problem, random_model

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.decoding.sampling import draw_tokens, sample
from dragoman.decoding.search import search

PROBABILITIES = [0.05, 0.5, 0.15, 0.3]


def drawn(config: SearchConfig) -> dict[int, float]:
    """Measure how often each token is drawn, with noise spread evenly over [0, 1)."""
    number = 2000
    log_probabilities = torch.tensor(PROBABILITIES).log().expand(number, -1)
    tokens = draw_tokens(log_probabilities, torch.arange(number) / number, config)
    return {token: count / number for token, count in Counter(tokens.tolist()).items()}


def test_tokens_are_drawn_as_often_as_they_are_probable() -> None:
    expected = dict(enumerate(PROBABILITIES))

    assert drawn(SearchConfig(sampling_temperature=1.0)) == pytest.approx(expected, abs=2e-3)


def test_a_temperature_of_one_half_squares_the_probabilities() -> None:
    squares = [p**2 for p in PROBABILITIES]
    expected = {i: square / sum(squares) for i, square in enumerate(squares)}

    assert drawn(SearchConfig(sampling_temperature=0.5)) == pytest.approx(expected, abs=2e-3)


def test_top_k_draws_from_the_most_probable_tokens() -> None:
    expected = {1: 0.5 / 0.8, 3: 0.3 / 0.8}

    assert drawn(SearchConfig(sampling_temperature=1.0, top_k=2)) == pytest.approx(
        expected, abs=2e-3
    )
    more_than_there_are = drawn(SearchConfig(sampling_temperature=1.0, top_k=100))
    assert more_than_there_are == pytest.approx(dict(enumerate(PROBABILITIES)), abs=2e-3)


def test_the_nucleus_is_the_fewest_tokens_that_are_probable_enough() -> None:
    nucleus = drawn(SearchConfig(sampling_temperature=1.0, top_p=0.81))
    certain = drawn(SearchConfig(sampling_temperature=1.0, top_p=0.01))

    assert nucleus == pytest.approx({1: 0.5 / 0.95, 3: 0.3 / 0.95, 2: 0.15 / 0.95}, abs=2e-3)
    assert certain == {1: 1.0}


def test_the_nucleus_is_that_of_what_temperature_and_top_k_leave() -> None:
    # Squared, the best three are 0.25, 0.09 and 0.0225: the first two are 0.938 of these, but
    # 0.932 of all four squares, and 0.842 of what the three are without a temperature.
    config = SearchConfig(sampling_temperature=0.5, top_k=3, top_p=0.935)

    assert drawn(config) == pytest.approx({1: 0.25 / 0.34, 3: 0.09 / 0.34}, abs=2e-3)


def test_noise_that_is_rounded_up_to_one_still_draws_a_possible_token() -> None:
    log_probabilities = torch.tensor([[0.0, -math.inf, -math.inf]])
    rounded = torch.ones(1)

    assert draw_tokens(log_probabilities, rounded, SearchConfig(sampling_temperature=1.0)) == 0


def test_a_border_between_two_tokens_belongs_to_the_second() -> None:
    equal, half = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([0.5])

    assert draw_tokens(equal, half, SearchConfig(sampling_temperature=1.0)) == 1
    # The first is probable enough to be a nucleus alone.
    assert draw_tokens(equal, half, SearchConfig(sampling_temperature=1.0, top_p=0.5)) == 0


def test_a_sample_goes_on_from_its_own_beginning_as_it_did() -> None:
    model = random_model(1, vocab_size=9)
    config = SearchConfig(sampling_temperature=1.0)
    ((drawn,),) = sample(problem([model], source_lengths=[5]), config)

    begun = problem([model], source_lengths=[5], forced_prefixes=[drawn.ids[:2]])

    assert len(drawn.ids) > 3
    assert sample(begun, config)[0][0].ids == drawn.ids


def test_no_step_is_computed_once_all_samples_have_ended() -> None:
    task = problem([random_model(1, vocab_size=9)], source_lengths=[5])
    asked = []

    def step(tokens: torch.Tensor, state: Prefixes) -> tuple[torch.Tensor, Prefixes]:
        asked.append(tokens)
        return task.step(tokens, state)

    (found,) = sample(replace(task, step=step), SearchConfig(sampling_temperature=1.0, n_best=5))

    lengths = [len(hypothesis.token_log_probabilities) for hypothesis in found]
    assert len(asked) == max(lengths) > lengths[0]
    assert all(hypothesis.finished for hypothesis in found)  # none was left behind with the first


def test_a_seed_gives_a_sentence_the_same_samples_in_every_batch() -> None:
    config = SearchConfig(sampling_temperature=1.0, n_best=3, seed=4)
    first, second = random_model(1, vocab_size=9), random_model(2, vocab_size=9)

    alone = sample(problem([first], source_lengths=[5]), config)[0]
    together = sample(problem([second, first], source_lengths=[2, 5]), config)[1]

    assert together == alone
    as_tuple = replace(problem([first]), sources=[(7,) * 5])
    assert sample(as_tuple, config)[0] == alone
    assert len({hypothesis.ids for hypothesis in alone}) > 1


def test_samples_are_not_ranked() -> None:
    task = problem([random_model(1, vocab_size=9)], source_lengths=[5])

    drawn = [
        sample(task, SearchConfig(sampling_temperature=1.0, n_best=number))[0]
        for number in range(1, 9)
    ]

    assert drawn == [drawn[-1][:number] for number in range(1, 9)]
    assert [found.score for found in drawn[-1]] != sorted(found.score for found in drawn[-1])


def endless(prefix: tuple[int, ...]) -> list[float]:
    return [0.0, 0.0, 0.0, -math.inf, *[0.0] * 46]


def test_no_phrase_is_required_of_samples() -> None:
    posed = problem([random_model(1, vocab_size=9)])
    required = [[Phrase(spellings=(Spelling((5,)),))]]
    with pytest.raises(ValueError, match="not of samples"):
        search(posed, SearchConfig(sampling_temperature=1.0), required)


def test_each_seed_source_and_number_gives_other_samples() -> None:
    sources = [(4, 5), (5, 4), (45,), (4, 5, 5)]
    task = replace(problem([endless] * 4), sources=sources)
    config = SearchConfig(sampling_temperature=1.0, n_best=12)

    samples = {
        found.ids
        for seed in (0, 1, 11)  # also if one and ten, or eleven and nothing, are written together
        for of_sentence in sample(task, replace(config, seed=seed))
        for found in of_sentence
    }

    assert len(samples) == 3 * 4 * 12


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_samples_do_not_depend_on_the_callers_default_precision(dtype: torch.dtype) -> None:
    config = SearchConfig(sampling_temperature=1.0, n_best=3)
    expected = sample(problem([endless]), config)

    torch.set_default_dtype(dtype)
    try:
        found = sample(problem([endless]), config)
    finally:
        torch.set_default_dtype(torch.float32)

    assert [each.ids for each in found[0]] == [each.ids for each in expected[0]]


def test_the_reported_probability_is_the_models_at_every_temperature() -> None:
    model = random_model(3, vocab_size=9)
    config = SearchConfig(sampling_temperature=0.3, top_k=2)

    found = sample(problem([model], source_lengths=[5]), config)[0][0]

    tokens = found.ids + (3,) * found.finished
    for place, token in enumerate(tokens):
        expected = torch.tensor(model(tokens[:place])).log_softmax(0)[token].item()
        assert found.token_log_probabilities[place] == pytest.approx(expected, abs=1e-5)
