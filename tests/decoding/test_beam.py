"""Beam search: it finds the best, loses nothing, and no sentence knows of the others."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.decoding.table_model import (
    BOS,
    EOS,
    PAD,
    UNK,
    Logits,
    Prefixes,
    problem,
    random_model,
    written_down,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from dragoman.decoding import beam
from dragoman.decoding.beam import Beams, Ended, beam_search, why_over
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem
from dragoman.decoding.search import search

A, B, C = 4, 5, 6
VOCAB = 7


def best(model: Logits, config: SearchConfig) -> Hypothesis:
    return beam_search(problem([model]), config)[0][0]


def brute_force(
    model: Logits, config: SearchConfig, limit: int
) -> list[tuple[float, tuple[int, ...]]]:
    """Score every translation that ends within the limit."""
    scored = []
    for length in range(limit):
        for ids in itertools.product((A, B, C), repeat=length):
            tokens = (*ids, EOS)
            log_probability = sum(
                torch.tensor(model(tokens[:i])).log_softmax(0)[tokens[i]].item()
                for i in range(len(tokens))
            )
            scored.append((log_probability / config.penalty(len(tokens)), ids))
    return sorted(scored, reverse=True)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_that_holds_everything_finds_what_brute_force_finds(
    seed: int, length_penalty: float
) -> None:
    limit, model = 5, random_model(seed, vocab_size=VOCAB)
    config = SearchConfig(
        beam_size=200,
        n_best=7,
        length_penalty=length_penalty,
        max_length_ratio=0.0,
        max_length_extra=limit,
    )

    found = beam_search(problem([model]), config)[0]

    expected = brute_force(model, config, limit)[:7]
    assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in expected]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [score for score, _ in expected], abs=1e-5
    )
    assert all(hypothesis.finished for hypothesis in found)


# Greedy search takes A (0.6), after which nothing is likely. B (0.4) ends with certainty.
GARDEN_PATH = written_down(
    {
        (): {A: 0.6, B: 0.4},
        (A,): {A: 0.3, B: 0.3, EOS: 0.4},
        (A, A): {EOS: 1.0},
        (A, B): {EOS: 1.0},
        (B,): {EOS: 1.0},
    },
    vocab_size=6,
)


def test_beam_search_finds_what_greedy_search_misses() -> None:
    config = SearchConfig(beam_size=2, length_penalty=0.0)

    greedy = greedy_search(problem([GARDEN_PATH]), config)[0][0]
    found = best(GARDEN_PATH, config)

    assert greedy.ids == (A,)
    assert greedy.log_probability == pytest.approx(math.log(0.6 * 0.4))
    assert found.ids == (B,)
    assert found.log_probability == pytest.approx(math.log(0.4))
    assert found.token_log_probabilities == pytest.approx((math.log(0.4), 0.0), abs=1e-6)


def test_a_translation_that_ended_early_is_not_lost() -> None:
    # It ends first (0.5); for two more steps the beam is full of live prefixes that each are
    # less probable than it is, and it must still be there at the end.
    model = written_down(
        {
            (): {EOS: 0.5, A: 0.3, B: 0.2},
            (A,): {A: 0.9, B: 0.1},
            (B,): {A: 0.5, B: 0.5},
            (A, A): {EOS: 1.0},
            (A, B): {EOS: 1.0},
            (B, A): {EOS: 1.0},
            (B, B): {EOS: 1.0},
        },
        vocab_size=6,
    )

    found = beam_search(problem([model]), SearchConfig(beam_size=2, n_best=2, length_penalty=0.0))

    assert [hypothesis.ids for hypothesis in found[0]] == [(), (A, A)]
    assert [math.exp(hypothesis.log_probability) for hypothesis in found[0]] == pytest.approx(
        [0.5, 0.27]
    )


def test_the_length_penalty_prefers_the_longer_of_two() -> None:
    # log 0.45 = -0.80 after 2 tokens, log 0.40 = -0.92 after 5: 0.92 / (10/6) < 0.80 / (7/6).
    model = written_down(
        {
            (): {A: 0.45, B: 0.40, EOS: 0.15},
            (A,): {EOS: 1.0},
            (B,): {B: 1.0},
            (B, B): {B: 1.0},
            (B, B, B): {B: 1.0},
            (B, B, B, B): {EOS: 1.0},
        },
        vocab_size=6,
    )

    assert best(model, SearchConfig(beam_size=3, length_penalty=0.0)).ids == (A,)
    assert best(model, SearchConfig(beam_size=3, length_penalty=1.0)).ids == (B, B, B, B)


def test_patience_waits_for_a_longer_one_that_is_better() -> None:
    # After two steps three have ended: 0.35, 0.25 and 0.22. The best is log 0.35 = -1.05, and what
    # is still to come is log 0.18 / (11 / 6) = -0.94.
    model = written_down(
        {
            (): {A: 0.4, EOS: 0.35, B: 0.25},
            (A,): {EOS: 0.55, B: 0.45},
            (B,): {EOS: 1.0},
            (A, B): {B: 1.0},
            (A, B, B): {B: 1.0},
            (A, B, B, B): {B: 1.0},
            (A, B, B, B, B): {EOS: 1.0},
        },
        vocab_size=6,
    )
    config = SearchConfig(beam_size=2, length_penalty=1.0)

    assert best(model, config).ids == (A, B, B, B, B)
    assert best(model, replace(config, patience=1)).ids == ()
    # A search that must keep terms has none, whatever the settings say.
    assert search(problem([model]), config, required=[[]])[0][0].ids == ()


def test_all_that_end_in_one_step_count_for_patience() -> None:
    # After two steps 0.4 and 0.33 have ended. Better is log 0.27 / (11 / 6) = -0.71.
    model = written_down(
        {
            (): {A: 0.6, B: 0.4},
            (A,): {EOS: 0.55, A: 0.45},
            (B,): {EOS: 1.0},
            (A, A): {A: 1.0},
            (A, A, A): {A: 1.0},
            (A, A, A, A): {A: 1.0},
            (A, A, A, A, A): {EOS: 1.0},
        },
        vocab_size=6,
    )
    config = SearchConfig(beam_size=2, length_penalty=1.0)

    assert best(model, config).ids == (A, A, A, A, A)
    assert best(model, replace(config, patience=1)).ids == (B,)


def test_a_search_goes_on_while_a_translation_as_long_as_the_limit_may_be_better() -> None:
    # log 0.54 = -0.62 has ended; log 0.46 / (8 / 6) = -0.58, but log 0.46 / (7 / 6) = -0.67.
    model = written_down(
        {(): {EOS: 0.54, A: 0.46}, (A,): {A: 1.0}, (A, A): {EOS: 1.0}}, vocab_size=6
    )
    config = SearchConfig(beam_size=2, length_penalty=1.0, max_length_ratio=0.0, max_length_extra=3)

    assert best(model, config).ids == (A, A)


def test_of_equal_translations_the_one_that_ended_first_stays_first() -> None:
    model = written_down({(): {EOS: 0.5, A: 0.5}, (A,): {EOS: 1.0}}, vocab_size=6)
    found = beam_search(problem([model]), SearchConfig(beam_size=2, n_best=2, length_penalty=0.0))

    assert [hypothesis.ids for hypothesis in found[0]] == [(), (A,)]


def test_scores_that_differ_by_less_than_single_precision_are_told_apart() -> None:
    ended = beam._nothing_ended(torch.tensor([5]), SearchConfig(), torch.device("cpu"))
    candidates = Beams(
        tokens=torch.tensor([[[BOS, A, EOS], [BOS, B, EOS]]]),
        token_log_probabilities=torch.tensor([[[-1.0, -(2.0**-25)], [-1.0, -(2.0**-26)]]]),
        log_probabilities=torch.tensor([[-1.0, -1.0]]),
    )

    tokens, *_ = ended.add(candidates, EOS, SearchConfig()).best

    assert tokens[0, 0].tolist() == [BOS, B, EOS]


def test_an_observer_is_told_what_each_candidate_extends_and_how_probable_it_is() -> None:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(3)]
    survived: list[Beams] = []

    def observe(candidates: Beams, parents: torch.Tensor, beams: Beams) -> None:
        sums = candidates.token_log_probabilities.sum(dim=2)
        assert torch.allclose(
            sums[candidates.is_live], candidates.log_probabilities[candidates.is_live]
        )
        if survived and len(survived[-1].tokens) == len(parents):
            assert torch.equal(candidates.tokens[..., :-1], survived[-1].take(parents).tokens)
        survived.append(beams)

    beam_search(problem(models, forced_prefixes=[(A, B)] * 3), SearchConfig(beam_size=3), observe)

    assert len(survived) > 3


def test_a_constant_added_to_the_logits_of_a_step_changes_nothing() -> None:
    model = random_model(5, vocab_size=VOCAB)

    def shifted(prefix: tuple[int, ...]) -> list[float]:
        return [logit + 10.0 * len(prefix) * sum(prefix) for logit in model(prefix)]

    config = SearchConfig(beam_size=3, n_best=3)
    plain, moved = (beam_search(problem([m]), config)[0] for m in (model, shifted))

    assert [found.ids for found in moved] == [found.ids for found in plain]
    assert [found.score for found in moved] == pytest.approx(
        [found.score for found in plain], abs=1e-4
    )


def test_the_score_is_the_log_probability_over_the_penalty() -> None:
    config = SearchConfig(beam_size=4, n_best=4)

    for found in beam_search(problem([random_model(9, vocab_size=VOCAB)]), config)[0]:
        assert found.log_probability == pytest.approx(sum(found.token_log_probabilities))
        assert len(found.token_log_probabilities) == len(found.ids) + found.finished
        assert found.score == found.log_probability / config.penalty(
            len(found.token_log_probabilities)
        )


def test_the_best_translations_are_sorted_different_and_begin_with_the_best() -> None:
    model = random_model(11, vocab_size=VOCAB)
    found = beam_search(problem([model]), SearchConfig(beam_size=5, n_best=5))[0]

    assert len({hypothesis.ids for hypothesis in found}) == 5
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert found[0] == best(model, SearchConfig(beam_size=5, n_best=1))


def test_a_beam_of_one_stops_at_the_first_end_and_a_wider_one_looks_for_something_better() -> None:
    # log 0.5 = -0.69 after 1 token, log 0.45 = -0.80 after 2: 0.80 / (7/6) < 0.69 / (6/6).
    model = written_down({(): {EOS: 0.5, A: 0.45, B: 0.05}, (A,): {EOS: 1.0}}, vocab_size=6)

    for beam_size, expected in ((1, ()), (2, (A,))):
        config = SearchConfig(beam_size=beam_size, length_penalty=1.0)
        assert search(problem([model]), config)[0][0].ids == expected


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy_search(seed: int) -> None:
    model = random_model(seed, vocab_size=VOCAB)
    config = SearchConfig(beam_size=1, length_penalty=0.0)

    greedy = greedy_search(problem([model]), config)

    assert beam_search(problem([model]), config) == greedy
    assert search(problem([model]), SearchConfig(beam_size=1))[0][0].ids == greedy[0][0].ids


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(beam_size=3, n_best=2, max_length_ratio=1.0, max_length_extra=2),
        SearchConfig(beam_size=1, max_length_ratio=1.0, max_length_extra=2),
        SearchConfig(sampling_temperature=2.0, n_best=2, max_length_ratio=1.0, max_length_extra=2),
    ],
    ids=["beam", "greedy", "samples"],
)
def test_sentences_of_a_batch_do_not_influence_each_other(config: SearchConfig) -> None:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(6)]
    lengths = [3, 1, 9, 2, 14, 1]
    # The table model tells sentences apart by their place, so a permutation moves both.
    order = [4, 0, 5, 2, 1, 3]

    together = search(problem(models, source_lengths=lengths), config)
    permuted = search(
        problem([models[i] for i in order], source_lengths=[lengths[i] for i in order]), config
    )

    for place, i in enumerate(order):
        alone = search(problem([models[i]], source_lengths=[lengths[i]]), config)[0]
        assert together[i] == alone
        assert permuted[place] == alone


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(beam_size=2, max_length_extra=3),
        SearchConfig(beam_size=1, max_length_extra=3),
        SearchConfig(sampling_temperature=1.0, max_length_extra=3),
    ],
    ids=["beam", "greedy", "samples"],
)
def test_each_sentence_is_stopped_at_a_limit_of_its_own(config: SearchConfig) -> None:
    def endless(prefix: tuple[int, ...]) -> list[float]:
        return [0.0, 0.0, 0.0, -math.inf, 2.0, 1.0]

    # The first leaves the batch with the last only, as leaving is worth it for two at once.
    found = search(problem([endless] * 6, source_lengths=[1, 9, 9, 9, 9, 4]), config)

    assert [len(hypothesis.ids) for (hypothesis,) in found] == [5, 21, 21, 21, 21, 11]
    assert not any(hypothesis.finished for (hypothesis,) in found)


def test_a_model_that_never_ends_is_stopped_at_the_limit_and_says_so() -> None:
    def endless(prefix: tuple[int, ...]) -> list[float]:
        return [0.0, 0.0, 0.0, -math.inf, 2.0, 1.0]

    config = SearchConfig(beam_size=3, n_best=2, max_length_ratio=2.0, max_length_extra=3)
    found = beam_search(problem([endless, GARDEN_PATH], source_lengths=[4, 1]), config)

    assert found[0][0].ids == (A,) * 11
    assert [hypothesis.finished for hypothesis in found[0]] == [False, False]
    assert len(found[0][0].token_log_probabilities) == 11
    assert all(hypothesis.finished for hypothesis in found[1])


def test_translations_that_ended_stand_before_those_that_were_stopped() -> None:
    model = written_down({(): {EOS: 0.1, A: 0.9}, (A,): {A: 1.0}, (A, A): {A: 1.0}}, vocab_size=6)
    config = SearchConfig(beam_size=3, n_best=3, max_length_ratio=0.0, max_length_extra=3)

    first, second = beam_search(problem([model]), config)[0]

    assert (first.ids, first.finished) == ((), True)
    assert (second.ids, second.finished) == ((A, A, A), False)
    assert second.score > first.score


def test_a_model_that_ends_at_once_gives_an_empty_translation() -> None:
    def silent(prefix: tuple[int, ...]) -> list[float]:
        return [0.0, 0.0, 0.0, 50.0, 0.0, 0.0]

    found = best(silent, SearchConfig(beam_size=4))

    assert found.ids == ()
    assert found.finished
    assert len(found.token_log_probabilities) == 1


def test_a_beam_wider_than_the_vocabulary_finds_all_there_is() -> None:
    found = beam_search(problem([GARDEN_PATH]), SearchConfig(beam_size=50, n_best=50))[0]

    assert {hypothesis.ids for hypothesis in found} == {(A,), (B,), (A, A), (A, B)}
    assert all(hypothesis.finished for hypothesis in found)


def test_padding_beginning_and_unknown_are_never_produced() -> None:
    def tempted(prefix: tuple[int, ...]) -> list[float]:
        return [9.0, 8.0, 7.0, 0.0, 1.0, 0.5]

    for config in (
        SearchConfig(beam_size=3, n_best=3),
        SearchConfig(beam_size=1),
        SearchConfig(sampling_temperature=2.0, n_best=9),
    ):
        found = search(problem([tempted]), config)[0]
        assert not {PAD, UNK, BOS, EOS} & {i for hypothesis in found for i in hypothesis.ids}
    allowed = search(problem([tempted], forbidden=(PAD, BOS)), SearchConfig(beam_size=1))
    assert set(allowed[0][0].ids) == {UNK}


def test_what_begins_alike_is_computed_once() -> None:
    """The prefix that is given, and the first step, for one prefix of each sentence."""
    model = random_model(5, vocab_size=VOCAB)
    posed = problem([model], forced_prefixes=[(A, B)])
    widths = []

    def step(tokens: torch.Tensor, state: Prefixes) -> tuple[torch.Tensor, Prefixes]:
        widths.append(tokens.size(1))
        return posed.step(tokens, state)

    (found,) = beam_search(replace(posed, step=step), SearchConfig(beam_size=3, n_best=3))

    assert widths[:4] == [1, 1, 1, 3]
    assert all(hypothesis.ids[:2] == (A, B) for hypothesis in found)


@pytest.mark.parametrize("n_best", [1, 2])
@pytest.mark.parametrize("patience", [1, 2])
def test_all_searches_at_once_are_over_when_each_is(n_best: int, patience: int) -> None:
    """All numbers of ended translations, few scores, so that many are equal to the bound."""
    config = SearchConfig(beam_size=2, n_best=n_best, patience=patience, length_penalty=1.0)
    possible = [
        (scores, best, limit)
        for count in range(6)
        for scores in itertools.combinations_with_replacement((-1.0, -2.0, -3.0), count)
        for best in (-1.0, -2.0, -3.5, -4.0, -math.inf)
        for limit in (3, 4, 7)
    ]
    limits = [limit for *_, limit in possible]
    best = torch.full((len(possible), 5), -math.inf, dtype=torch.float64)
    for row, (scores, _, _) in zip(best, possible, strict=True):
        row[: len(scores)] = torch.tensor(scores)
    of_each = Ended(
        limits=torch.tensor(limits),
        penalties=torch.tensor(list(map(config.penalty, limits)), dtype=torch.float64),
        count=best.isfinite().sum(dim=1),
        scores=best[:, :n_best],
        tokens=torch.zeros(len(possible), n_best, 5, dtype=torch.long),
        token_log_probabilities=torch.zeros(len(possible), n_best, 4),
    )
    beams = Beams(
        tokens=torch.zeros(len(possible), 1, 5, dtype=torch.long),
        token_log_probabilities=torch.zeros(len(possible), 1, 4),
        log_probabilities=torch.tensor([[of_best] for _, of_best, _ in possible]),
    )

    over = of_each.are_over(beams, config)

    assert over.tolist() == [
        why_over(scores, of_best, 4, limit, config) is not None
        for scores, of_best, limit in possible
    ]


@pytest.mark.parametrize("n_best", [1, 3])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_step_before_the_device_is_asked_changes_nothing(
    beam_size: int, n_best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU: sentences leave the batch a step later, and none of a few."""
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(40)]
    lengths = [1 + seed % 7 for seed in range(40)]
    config = SearchConfig(beam_size=beam_size, n_best=min(n_best, beam_size))
    usual = search(problem(models, source_lengths=lengths), config)

    monkeypatch.setattr(SearchProblem, "runs_ahead", True)
    monkeypatch.setattr("dragoman.decoding.problem.FEW_SENTENCES", 8)

    assert search(problem(models, source_lengths=lengths), config) == usual


def test_a_device_without_double_precision_is_not_asked_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class SinglePrecision(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            found = func(*args, **(kwargs or {}))
            for each in tree_leaves(found):
                assert not isinstance(each, torch.Tensor) or each.dtype != torch.float64
            return found

    models = [random_model(seed, vocab_size=VOCAB) for seed in range(5)]
    config = SearchConfig(beam_size=3, n_best=2)
    usual = search(problem(models), config)
    monkeypatch.setattr(beam, "WITHOUT_FLOAT64", ("cpu",))

    with SinglePrecision():  # type: ignore[no-untyped-call]
        assert search(problem(models), config) == usual
