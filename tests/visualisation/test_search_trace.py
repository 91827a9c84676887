"""What is recorded of a beam search follows its rules."""

import math
from typing import Any

import pytest
import torch
from tests.decoding.table_model import BOS, EOS, PAD, UNK, Logits, problem, random_model
from tests.visualisation.numpy_transformer import naive_beam_search

from dragoman.decoding.beam import beam_search
from dragoman.decoding.config import SearchConfig
from dragoman.visualisation.explain_search import describe_ending
from dragoman.visualisation.search_trace import SearchTrace, trace_search

VOCAB = 9


def search_of(seed: int, **settings: Any) -> SearchTrace:
    return trace_search(problem([random_model(seed, vocab_size=VOCAB)]), SearchConfig(**settings))


def in_logs(model: Logits, ids: tuple[int, ...]) -> Any:
    return torch.tensor(model(ids), dtype=torch.float64).log_softmax(0).numpy()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("beam_size", [2, 5])
def test_the_steps_are_those_of_a_naive_search(beam_size: int, seed: int) -> None:
    model = random_model(seed, vocab_size=VOCAB)

    search = search_of(seed, beam_size=beam_size, max_length_ratio=1.0, max_length_extra=6)

    steps, ended = naive_beam_search(
        lambda ids: in_logs(model, ids),
        beam=beam_size,
        alpha=0.6,
        limit=7,
        eos=EOS,
        forbidden=(PAD, UNK, BOS),
    )
    assert search.max_length == 7
    assert len(search.steps) == len(steps)
    for traced, expected in zip(search.steps, steps, strict=True):
        assert [each.ids for each in traced.candidates] == [each.ids for each in expected]
        for name in ("log_probability", "score"):
            assert [vars(each)[name] for each in traced.candidates] == pytest.approx(
                [vars(each)[name] for each in expected], abs=1e-5
            )
    kept = [each for step in search.steps for each in step.candidates if each.fate == "ended"]
    assert {each.ids for each in kept} == {each.ids for each in ended}
    assert (*search.hypotheses[0].ids, EOS) == ended[0].ids


@pytest.mark.parametrize("seed", range(6))
def test_every_candidate_descends_from_one_that_lived_on(seed: int) -> None:
    search = search_of(seed, beam_size=3)

    for candidate in search.steps[0].candidates:
        assert candidate.parent is None
        assert len(candidate.ids) == 1
    for before, after in zip(search.steps, search.steps[1:], strict=False):
        for candidate in after.candidates:
            assert candidate.parent is not None
            parent = before.candidates[candidate.parent]
            assert parent.fate == "lives on"
            assert parent.ids == candidate.ids[:-1]
            assert candidate.log_probability == pytest.approx(
                parent.log_probability + candidate.token_log_probability, abs=1e-5
            )


def check_the_rules(search: SearchTrace) -> None:
    beam = search.config.beam_size
    for step in search.steps:
        going = [rank for rank, c in enumerate(step.candidates) if c.ids[-1] != EOS]
        for rank, candidate in enumerate(step.candidates):
            if candidate.ids[-1] == EOS:
                assert candidate.fate == ("ended" if rank < beam else "ended below the beam")
            elif rank in going[:beam]:
                assert candidate.fate == ("over" if step is search.steps[-1] else "lives on")
            else:
                assert candidate.fate == "below the beam"
    assert [step.ending for step in search.steps[:-1]] == [None] * (len(search.steps) - 1)


def test_each_candidate_meets_the_fate_that_the_rules_give_it() -> None:
    endings = set()
    wanted = {1: "the best translation has", 3: "3 translations have at least"}
    for seed in range(20):
        for n_best in (1, 3):
            search = search_of(seed, beam_size=3, n_best=n_best, max_length_extra=5)
            check_the_rules(search)
            endings.add(search.steps[-1].ending)
            if search.steps[-1].ending == "nothing better can come":
                score = f"{wanted[n_best]} a score of {search.hypotheses[-1].score:.4f}"
                assert score in describe_ending(search)
    assert endings == {
        "enough have ended",
        "nothing better can come",
        "the length limit is reached",
    }


@pytest.mark.parametrize("n_best", [1, 2])
def test_a_search_that_runs_out_of_prefixes_has_no_other_reason_to_end(n_best: int) -> None:
    def only_the_end(ids: tuple[int, ...]) -> list[float]:
        return [0.0 if token == EOS else -math.inf for token in range(VOCAB)]

    search = trace_search(problem([only_the_end]), SearchConfig(beam_size=2, n_best=n_best))

    (step,) = search.steps
    assert [(each.ids, each.fate) for each in step.candidates] == [((EOS,), "ended")]
    assert step.ending is None
    assert describe_ending(search) == (
        "The search is over after 1 step, because no live prefix is left."
    )


def test_a_limit_of_one_token_is_not_said_of_several() -> None:
    search = search_of(0, beam_size=2, max_length_ratio=0.0, max_length_extra=1)

    assert search.steps[-1].ending == "the length limit is reached"
    assert describe_ending(search).endswith("because a translation may have 1 token here.")


def test_to_be_watched_changes_nothing() -> None:
    config = SearchConfig(beam_size=3, n_best=3)
    model = random_model(5, vocab_size=VOCAB)

    watched = trace_search(problem([model]), config).hypotheses

    assert list(watched) == beam_search(problem([model]), config)[0]
