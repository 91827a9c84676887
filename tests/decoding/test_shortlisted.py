"""A search among listed tokens: an ordinary search, in a vocabulary that others do not see."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from tests.decoding.table_model import BOS, EOS, PAD, UNK, Prefixes, problem, random_model
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.decoding.problem import SearchProblem
from dragoman.decoding.search import search
from dragoman.decoding.shortlisted import Project, search_listed

VOCAB = 12
LIMIT: dict[str, Any] = {"max_length_ratio": 0.0, "max_length_extra": 5}
SEARCHES = [
    SearchConfig(beam_size=1, **LIMIT),
    SearchConfig(beam_size=4, n_best=3, **LIMIT),
    SearchConfig(sampling_temperature=1.0, n_best=3, **LIMIT),
]
EVERYTHING = list(range(VOCAB))


def pose(prefixes: Sequence[Sequence[int]] | None = None) -> SearchProblem[Prefixes]:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(4)]
    return problem(models, forced_prefixes=prefixes)


def among(
    posed: SearchProblem[Prefixes],
    listed: Sequence[Sequence[int]],
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]] | None = None,
) -> list[list[Hypothesis]]:
    def step(chosen: Tensor, state: Prefixes, project: Project) -> tuple[Tensor, Prefixes]:
        logits, state = posed.step(chosen, state)
        return project(logits), state

    def narrow(tokens: Tensor) -> Project:
        return lambda logits: logits[..., tokens]

    return search_listed(posed, listed, step, narrow, config, required)


def phrases(*tokens: tuple[int, ...]) -> list[Phrase]:
    return [Phrase(spellings=(Spelling(each),)) for each in tokens]


REQUIRED = [phrases((9, 5)), phrases((7,), (4,)), [], phrases((6, 6))]
STRICT = [
    [
        Phrase(
            spellings=(Spelling((9, 5), not_after=frozenset({BOS, 4, 5, 7, 8, 9, 10})),),
            not_before=frozenset({4, 6, 8, 11}),
            only_behind=frozenset({7, 10}),
        )
    ]
] * 4


@pytest.mark.parametrize("prefixes", [None, [[5], [6], [7], [UNK]]], ids=["free", "begun"])
@pytest.mark.parametrize(
    ("config", "required"),
    [*((config, None) for config in SEARCHES), (SEARCHES[1], REQUIRED), (SEARCHES[1], STRICT)],
    ids=["greedy", "beam", "samples", "phrases", "strict phrases"],
)
def test_lists_of_the_whole_vocabulary_change_nothing(
    config: SearchConfig,
    required: list[list[Phrase]] | None,
    prefixes: list[list[int]] | None,
) -> None:
    posed = pose(prefixes)
    expected = search(posed, config, required)
    found = among(posed, [EVERYTHING] * 4, config, required)
    for ours, theirs in zip(found, expected, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-5)


@pytest.mark.parametrize("rows_together", [1, 6, 12, 128])
@pytest.mark.parametrize("config", SEARCHES, ids=["greedy", "beam", "samples"])
def test_a_sentence_gets_what_it_gets_with_its_list_alone(
    monkeypatch: pytest.MonkeyPatch, config: SearchConfig, rows_together: int
) -> None:
    """The lists differ in length, and the longest has tokens that no other has."""
    monkeypatch.setattr("dragoman.decoding.shortlisted.ROWS_TOGETHER", rows_together)
    lists = [[4, 5], [6, 7, 8, 9, 10, 11], [4, 10], [5, 6, 7]]
    together = among(pose(), lists, config)
    for sentence, listed in enumerate(lists):
        alone = among(pose(), [listed] * 4, config)[sentence]
        assert [h.ids for h in together[sentence]] == [h.ids for h in alone]
        assert [h.score for h in together[sentence]] == pytest.approx(
            [h.score for h in alone], abs=1e-5
        )
        assert {token for h in together[sentence] for token in h.ids} <= set(listed)


def test_a_beam_wider_than_a_list_finds_only_what_is_on_it() -> None:
    config = SearchConfig(beam_size=9, n_best=9, max_length_ratio=0.0, max_length_extra=2)

    found, *_ = among(pose(), [[4], [5, 6, 7, 8, 9, 10, 11], [4], [4, 5]], config)

    assert sorted(hypothesis.ids for hypothesis in found) == [(), (4,), (4, 4)]


def test_probabilities_are_normalised_over_the_list() -> None:
    listed = [4, 7]
    ((best, *_), *_) = among(pose(), [listed] * 4, SEARCHES[1])
    prefix: tuple[int, ...] = ()
    for token, log_probability in zip((*best.ids, EOS), best.token_log_probabilities, strict=False):
        logits = torch.tensor(random_model(0, vocab_size=VOCAB)(prefix))
        on_list = logits[[PAD, UNK, BOS, EOS, *listed]]  # as without lists, forbidden ones count
        expected = logits[token] - on_list.logsumexp(0)
        assert log_probability == pytest.approx(expected.item(), abs=1e-5)
        prefix = (*prefix, token)


def test_what_is_demanded_is_on_the_list() -> None:
    found = among(pose([[11]] * 4), [[4]] * 4, SEARCHES[1], REQUIRED)
    for hypotheses, of_sentence in zip(found, REQUIRED, strict=True):
        assert hypotheses
        demanded = {t for p in of_sentence for spelling in p.spellings for t in spelling.tokens}
        for hypothesis in hypotheses:
            assert hypothesis.ids[0] == 11
            assert demanded <= set(hypothesis.ids) <= demanded | {4, 11}


def test_an_unknown_token_in_a_prefix_is_not_produced_again() -> None:
    for hypotheses in among(pose([[UNK]] * 4), [[4, 5]] * 4, SEARCHES[1]):
        for hypothesis in hypotheses:
            assert UNK not in hypothesis.ids[1:]


def test_a_token_that_may_not_follow_a_phrase_does_not_though_it_is_on_the_list() -> None:
    """The model would go on with it if it could."""
    follower = 8

    def model(prefix: tuple[int, ...]) -> list[float]:
        logits = [0.0] * VOCAB
        logits[follower] = 3.0 if prefix and prefix[-1] == 9 else 0.0
        return logits

    posed = problem([model])
    free = [Phrase(spellings=(Spelling((9,)),))]
    strict = [
        Phrase(
            spellings=(Spelling((9,), not_after=frozenset({5, 11})),),
            not_before=frozenset({follower, 11}),
        )
    ]  # 11 is not on the list
    listed = [[4, 5, follower]]

    def followers(required: list[Phrase]) -> set[int]:
        ((*found,),) = among(posed, listed, SEARCHES[1], [required])
        assert all(math.isfinite(hypothesis.score) for hypothesis in found)
        return {h.ids[h.ids.index(9) + 1] for h in found if h.ids[-1] != 9}

    assert follower in followers(free)
    assert follower not in followers(strict)
