"""Constrained search: the phrases are always there, and the rest is as good as it can be."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
from tests.decoding.table_model import (
    EOS,
    UNK,
    Logits,
    Prefixes,
    problem,
    random_model,
    written_down,
)

from dragoman.decoding import constrained
from dragoman.decoding.beam import beam_search
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.constrained import constrained_beam_search
from dragoman.decoding.phrase import Phrase, Spelling

A, B, C, D = 4, 5, 6, 7
VOCAB = 8
LIMIT = 3


def config(beam_size: int, n_best: int = 1, limit: int = LIMIT) -> SearchConfig:
    return SearchConfig(
        beam_size=beam_size, n_best=n_best, max_length_ratio=0.0, max_length_extra=limit
    )


def phrase(*spellings: tuple[int, ...]) -> Phrase:
    return Phrase(spellings=tuple(map(Spelling, spellings)))


def satisfies(ids: tuple[int, ...], phrases: list[Phrase]) -> bool:
    """Tell whether the phrases can be crossed out one after the other, in some order."""
    if not phrases:
        return True
    return any(
        ids[i : i + len(spelling.tokens)] == spelling.tokens
        and satisfies((*ids[:i], -1, *ids[i + len(spelling.tokens) :]), phrases[1:])
        for spelling in phrases[0].spellings
        for i in range(len(ids))
    )


def score(model: Logits, ids: tuple[int, ...], search: SearchConfig) -> float:
    tokens = (*ids, EOS)
    log_probability = sum(
        torch.tensor(model(tokens[:i])).log_softmax(0)[tokens[i]].item() for i in range(len(tokens))
    )
    return log_probability / search.penalty(len(tokens))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "phrases",
    [[phrase((A, B))], [phrase((A,)), phrase((B,))], [phrase((A, A), (B,))]],
    ids=["one", "two", "spelled in two ways"],
)
def test_a_beam_that_holds_everything_finds_the_best_translation_that_has_the_phrases(
    seed: int, phrases: list[Phrase]
) -> None:
    """What begins as a phrase must go on as one: the first A of A B is never another A."""
    model = random_model(seed, vocab_size=D)
    search = config(beam_size=300, n_best=3)
    limit = LIMIT + sum(each.longest for each in phrases)

    found = constrained_beam_search(problem([model]), search, [phrases])[0]

    possible = [
        ids
        for length in range(limit)
        for ids in itertools.product((A, B, C), repeat=length)
        if satisfies(ids, phrases) and begins_only_phrases(ids, phrases)
    ]
    scored = sorted(((score(model, ids, search), ids) for ids in possible), reverse=True)
    assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in scored[:3]]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [each for each, _ in scored[:3]], abs=1e-5
    )


def begins_only_phrases(ids: tuple[int, ...], phrases: list[Phrase]) -> bool:
    """Tell whether each first token of a phrase that is still missing begins it."""
    missing, i = list(phrases), 0
    while i < len(ids):
        begun = [
            (each, spelling)
            for each in missing
            for spelling in each.spellings
            if ids[i] == spelling.tokens[0]
        ]
        fitting = [(e, s.tokens) for e, s in begun if ids[i : i + len(s.tokens)] == s.tokens]
        if begun and not fitting:
            return False
        if fitting:
            each, spelling = fitting[0]
            missing.remove(each)
            i += len(spelling)
        else:
            i += 1
    return True


# Without the phrase D the best translation is A. D is most probable after A, where a search that
# begins it at once would not find it.
RELUCTANT = written_down(
    {
        (): {A: 0.9, D: 0.001, EOS: 0.099},
        (A,): {EOS: 0.6, D: 0.3, B: 0.1},
        (A, D): {EOS: 1.0},
        (A, B): {EOS: 0.9, D: 0.1},
        (A, B, D): {EOS: 1.0},
        (D,): {EOS: 0.5, A: 0.5},
        (D, A): {EOS: 1.0},
    },
    vocab_size=VOCAB,
)


def test_a_phrase_is_put_where_the_model_likes_it_best() -> None:
    assert beam_search(problem([RELUCTANT]), config(4))[0][0].ids == (A,)
    found = constrained_beam_search(problem([RELUCTANT]), config(4), [[phrase((D,))]])
    assert found[0][0].ids == (A, D)
    assert found[0][0].finished


def test_a_model_that_never_wants_a_phrase_is_made_to_say_it_before_the_limit() -> None:
    """C has next to no probability anywhere, and EOS almost all of it."""

    def model(prefix: tuple[int, ...]) -> list[float]:
        return [-math.inf, -math.inf, -math.inf, 9.0, 5.0, 5.0, -20.0, 5.0]

    phrases = [phrase((C, C, C)), phrase((A, C)), phrase((C, C, C))]
    for beam_size in (2, 3, 5):
        (found,) = constrained_beam_search(problem([model]), config(beam_size), [phrases])
        assert found
        assert all(satisfies(hypothesis.ids, phrases) for hypothesis in found)
        assert all(hypothesis.finished for hypothesis in found)


def test_a_translation_that_does_not_end_before_the_limit_has_the_phrases() -> None:
    def model(prefix: tuple[int, ...]) -> list[float]:
        return [-math.inf, -math.inf, -math.inf, -math.inf, 5.0, -9.0, 0.0, -9.0]

    (found,) = constrained_beam_search(problem([model]), config(4), [[phrase((B, C))]])
    assert not found[0].finished
    assert sorted(found[0].ids) == [A, A, A, B, C]


def test_a_phrase_that_fits_nowhere_is_said_where_there_is_just_room_for_it_and_the_end() -> None:
    """The longer of its spellings, which the model prefers."""
    nowhere = frozenset(range(VOCAB))
    spellings = tuple(Spelling(tokens, not_after=nowhere) for tokens in ((B,), (A, A, A)))

    def model(prefix: tuple[int, ...]) -> list[float]:
        ends = 9.0 if A in prefix else -9.0
        return [-math.inf, -math.inf, -math.inf, ends, 0.0, -19.0, 5.0, 0.0]

    for beam_size in (2, 5):
        search = config(beam_size, limit=6)
        (found,) = constrained_beam_search(
            problem([model]), search, [[Phrase(spellings=spellings)]]
        )
        assert found[0].ids == (C, C, C, C, C, A, A, A)
        assert found[0].finished


def test_groups_of_a_beam_get_equal_shares_and_the_best_of_the_others_the_rest() -> None:
    def candidate(num_missing: int, rank: float, token: int = A) -> constrained._Candidate:
        constraints = constrained._Constraints(missing=(phrase((B,)),) * num_missing)
        return constrained._Candidate(0, token, rank, rank, constraints, rank=rank)

    def ranks(candidates: list[constrained._Candidate], width: int) -> list[float]:
        return [chosen.rank for chosen in constrained._share(candidates, EOS, width)]

    hopeful = [candidate(2, -1.0), candidate(2, -2.0), candidate(2, -3.0), candidate(2, -4.0)]
    assert ranks([*hopeful, candidate(1, -8.0)], width=4) == [-1.0, -2.0, -8.0, -3.0]
    assert ranks([*hopeful, candidate(1, -8.0), candidate(0, -9.0)], width=2) == [-8.0, -9.0]
    ends = [candidate(0, -5.0, EOS), candidate(0, -6.0), candidate(0, -7.0, EOS)]
    assert ranks([*hopeful, *ends], width=2) == [-1.0, -5.0, -6.0]
    late = [candidate(0, -6.5), *ends, candidate(0, -8.0)]
    assert ranks([hopeful[0], *late], width=4) == [-1.0, -5.0, -6.0, -6.5, -8.0]


def test_there_may_be_more_phrases_than_places_in_the_beam() -> None:
    model = random_model(5, vocab_size=VOCAB)
    phrases = [phrase((A, B)), phrase((C,)), phrase((D, A)), phrase((B, B)), phrase((D,))]
    (found,) = constrained_beam_search(problem([model]), config(2, limit=30), [phrases])
    assert found[0].finished
    assert satisfies(found[0].ids, phrases)


def test_the_same_phrase_twice_is_said_twice_and_takes_no_place_twice() -> None:
    task = problem([random_model(3, vocab_size=VOCAB)])

    def step(tokens: torch.Tensor, state: Prefixes) -> tuple[torch.Tensor, Prefixes]:
        logits, state = task.step(tokens, state)
        (prefixes,) = state.decoded
        assert len(set(prefixes)) == len(prefixes)
        return logits, state

    watched = replace(task, step=step)
    (found,) = constrained_beam_search(watched, config(6), [2 * [phrase((D, C))]])
    assert satisfies(found[0].ids, 2 * [phrase((D, C))])


def test_no_word_is_continued_by_a_phrase_and_none_continues_it() -> None:
    """After the number 1 comes no digit, and it does not follow one."""
    alone = Phrase(spellings=(Spelling((A,), not_after=frozenset({C})),), not_before=frozenset({B}))

    def model(prefix: tuple[int, ...]) -> list[float]:
        row = [-math.inf, -math.inf, -math.inf, 0.0, -3.0, 2.0, 3.0, -1.0]
        if len(prefix) > 3:
            row[EOS] = 9.0
        return row

    for beam_size in (2, 4, 8):
        search = config(beam_size, limit=9)
        (found,) = constrained_beam_search(problem([model]), search, [[alone]])
        ids = found[0].ids
        place = ids.index(A)
        assert B not in ids[place + 1 : place + 2]
        assert C not in ids[max(0, place - 1) : place]


def test_no_translation_is_over_before_a_phrase_that_it_has_to_have() -> None:
    """C is a full stop, after which the model would rather say A and B."""

    def model(prefix: tuple[int, ...]) -> list[float]:
        row = [-math.inf, -math.inf, -math.inf, -9.0, -3.0, -3.0, 5.0, -9.0]
        if C in prefix:
            row[B if A in prefix else A] = 9.0
            row[EOS] = 20.0 if B in prefix else -9.0
        return row

    for beam_size in (2, 4, 8):
        for only_behind, expected in ((frozenset(), (C, A, B)), (frozenset({C}), (A, B, C))):
            both = Phrase(spellings=(Spelling((A, B)),), only_behind=only_behind)
            search = config(beam_size, limit=9)
            (found,) = constrained_beam_search(problem([model]), search, [[both]])
            assert found[0].ids == expected


def test_a_phrase_that_is_improbable_everywhere_is_not_put_off_until_the_end() -> None:
    """A model that says A four times, and would say the first token of the phrase ever sooner."""

    def model(prefix: tuple[int, ...]) -> list[float]:
        is_over = prefix.count(A) >= 4
        begun = -9.0 + 0.5 * prefix.count(A)
        end, again = (9.0, -9.0) if is_over else (-9.0, 0.0)
        return [-math.inf, -math.inf, -math.inf, end, again, begun, -9.0, -9.0]

    phrases = [phrase((B, C, D))]
    for beam_size in (2, 3, 4, 8):
        (found,) = constrained_beam_search(problem([model]), config(beam_size, limit=20), [phrases])
        assert found[0].ids == (A, A, A, B, C, D, A)


def test_no_translation_comes_twice() -> None:
    """Whether a token begins a phrase, or stands where it does by chance."""
    for seed in range(40):
        model = random_model(seed, vocab_size=VOCAB)
        phrases = [phrase((A, B), (A,)), phrase((A, B))]
        (found,) = constrained_beam_search(problem([model]), config(6, n_best=4), [phrases])
        assert len({hypothesis.ids for hypothesis in found}) == len(found)


def test_a_phrase_that_cannot_be_said_gives_no_translation_but_leaves_the_others() -> None:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(2)]
    found = constrained_beam_search(problem(models), config(4), [[phrase((UNK,))], []])
    assert found[0] == []
    assert found[1][0].finished


@pytest.mark.parametrize("beam_size", [2, 3, 5])
def test_what_no_beam_has_place_for_need_not_be_looked_at(
    beam_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(40)]
    required = [
        [phrase((A, B)), phrase((C,)), phrase((A, D), (D,))][: seed % 4] for seed in range(40)
    ]
    search = config(beam_size, n_best=2, limit=5)
    found = constrained_beam_search(problem(models), search, required)

    with monkeypatch.context() as patched:
        patched.setattr("dragoman.decoding.constrained._first", lambda ranked, *_: ranked)
        assert constrained_beam_search(problem(models), search, required) == found


def test_a_sentence_does_not_know_of_its_neighbours() -> None:
    models = [random_model(seed, vocab_size=VOCAB) for seed in range(5)]
    required = [[phrase((A, B))], [], [phrase((D,)), phrase((C, A))], [phrase((C,))], []]
    together = constrained_beam_search(problem(models), config(4, n_best=2), required)
    for model, phrases, found in zip(models, required, together, strict=True):
        assert constrained_beam_search(problem([model]), config(4, n_best=2), [phrases]) == [found]


def test_without_phrases_it_finds_what_a_beam_search_finds() -> None:
    for seed in range(5):
        model = random_model(seed, vocab_size=VOCAB)
        usual = beam_search(problem([model]), config(50))[0][0]
        (found,) = constrained_beam_search(problem([model]), config(50), [[]])
        assert found[0].ids == usual.ids
        assert found[0].score == pytest.approx(usual.score, abs=1e-6)


@pytest.mark.parametrize("spellings", [(), ((),), ((A,), ())])
def test_an_empty_phrase_is_refused(spellings: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="a token"):
        phrase(*spellings)


def test_a_phrase_does_not_follow_where_it_would_make_something_longer() -> None:
    """It is the most probable so, and any other token between them is less so."""
    wanted = [A, B, EOS]

    def model(prefix: tuple[int, ...]) -> list[float]:
        best = wanted[min(len(prefix), len(wanted) - 1)]
        return [5.0 if token == best else 0.0 for token in range(VOCAB)]

    def found(first: Phrase) -> tuple[int, ...]:
        ((best, *_),) = constrained_beam_search(
            problem([model]), config(16, limit=4), [[first, phrase((B,))]]
        )
        return best.ids

    assert found(phrase((A,))) == (A, B)
    apart = found(Phrase(spellings=(Spelling((A,)),), not_before=frozenset({A, B})))
    assert {A, B} <= set(apart)
    assert (A, B) not in itertools.pairwise(apart)


def test_a_search_goes_on_for_the_most_probable_prefix_behind_one_within_a_phrase() -> None:
    """A A is put first, by the A that it began with, but C B is 30 times as probable."""
    model = written_down(
        {
            (): {A: 0.6, C: 0.4},
            (A,): {A: 0.01, B: 0.99},
            (A, A): {A: 0.01, B: 0.99},
            (C,): {EOS: 0.51, B: 0.49},
            (C, B): {EOS: 1.0},
        },
        vocab_size=VOCAB,
    )
    search = replace(config(2, limit=9), length_penalty=1.0)

    ((found,),) = constrained_beam_search(problem([model]), search, [[phrase((A, A, A), (C,))]])

    assert found.ids == (C, B)  # log 0.20 / (7 / 6) < log 0.20 / (8 / 6)
