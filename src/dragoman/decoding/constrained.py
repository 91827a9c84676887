"""Beam search for translations that must have certain phrases (Post and Vilar 2018).

Every prefix has constraints: the phrases that are missing, and what is left of the one that it is
within. A step extends each prefix by the tokens that its phrases ask for and by the most probable
others, and divides the beam among groups of such candidates (the banks of that paper).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.decoding.beam import why_over
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem, State, worth_dropping
from dragoman.decoding.top_tokens import top_tokens


class _Constraints(NamedTuple):
    """What the tokens so far require of the rest of a translation."""

    missing: tuple[Phrase, ...]
    """The phrases that have not begun."""

    phrase: Phrase | None = None
    """The one that the last token belongs to."""

    remainder: tuple[int, ...] = ()
    """What is left of it; nothing else may follow."""

    @property
    def forbidden(self) -> frozenset[int]:
        """The tokens that may not follow, as they would make a phrase into something longer."""
        return frozenset() if self.phrase is None else self.phrase.not_before

    @property
    def group(self) -> tuple[int, bool]:
        """What is equal for those that compete: how many phrases are missing, and if in a phrase.

        If all competed, a beam would fill with prefixes that put the phrases off, and then add them
        where they do not belong.
        """
        return len(self.missing), bool(self.remainder)


@dataclass(frozen=True, kw_only=True)
class _Prefix:
    """The beginning of a translation."""

    tokens: tuple[int, ...]
    token_log_probabilities: tuple[float, ...] = ()
    log_probability: float = 0.0
    constraints: _Constraints
    rank: float = 0.0
    """See `_Candidate`."""

    parent: int = 0
    """Which prefix of the previous step it continues."""


class _Candidate(NamedTuple):
    """A live prefix and a token that may follow; only the few that are chosen become prefixes."""

    parent: int
    """Which of the live prefixes it extends."""

    token: int
    token_log_probability: float
    log_probability: float
    """That of the prefix with the token."""

    constraints: _Constraints
    """Those after the token."""

    rank: float
    """What it is compared by within its group: its log-probability, but within a phrase that up to
    the first token of the phrase."""


@dataclass(kw_only=True)
class _Sentence:
    """The search for the translations of a sentence."""

    limit: int
    """Tokens that a translation may have, its end included."""

    live: list[_Prefix]
    ended: list[Hypothesis] = field(default_factory=list)


def constrained_beam_search(
    problem: SearchProblem[State],
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]],
) -> list[list[Hypothesis]]:
    """Find translations that have every phrase required of their sentence, the best scored first.

    A token that begins a missing phrase begins that phrase; any other token may follow a prefix. A
    phrase that has begun must be completed. A translation can end when no phrase is missing; once
    there is just enough room for the missing ones before the length limit, nothing else may follow.
    So every hypothesis has the phrases. There is none if each spelling of a phrase has a forbidden
    token, or if a beam of one or two finds only tokens that must not follow a phrase. The limit is
    higher than usual by the phrases' own length.

    The search for a sentence is over when as many translations have ended as the beam is wide, or
    when no live prefix can still become one of the `n_best`.
    """
    config = replace(config, patience=1)
    beginning = problem.begin(1)
    sentences = [
        _Sentence(
            limit=limit + _length(phrases),
            live=[
                _Prefix(
                    tokens=tuple(tokens),
                    token_log_probabilities=tuple(values),
                    log_probability=math.fsum(values),
                    constraints=_Constraints(missing=tuple(phrases)),
                )
            ],
        )
        for phrases, limit, tokens, values in zip(
            required,
            problem.limits(config),
            beginning.tokens[:, 0].tolist(),
            beginning.token_log_probabilities[:, 0].tolist(),
            strict=True,
        )
    ]
    followed, state = sentences, beginning.state
    while followed:
        width = max(len(sentence.live) for sentence in followed)
        table = [_fill(sentence.live, width) for sentence in followed]
        parents = [[prefix.parent for prefix in row] for row in table]
        tokens = [[prefix.tokens[-1] for prefix in row] for row in table]
        state = state.reorder(torch.tensor(parents, device=problem.device))
        logits, state = problem.step(torch.tensor(tokens, device=problem.device), state)
        _advance(followed, problem.log_probabilities(logits), problem.eos, config)
        going = [place for place, sentence in enumerate(followed) if sentence.live]
        if worth_dropping(len(followed) - len(going), len(followed)):
            state = state.select(torch.tensor(going, dtype=torch.long, device=problem.device))
            followed = [followed[place] for place in going]
    return [sentence.ended[: config.n_best] for sentence in sentences]


def _length(phrases: Sequence[Phrase]) -> int:
    """Count the tokens that phrases may take."""
    return sum(phrase.longest for phrase in phrases)


def _fill(live: list[_Prefix], width: int) -> list[_Prefix]:
    """Pad a row of the beam with prefixes that nobody reads; complete sentences have no others.

    Places are the parents of the next step, so the live prefixes keep their order.
    """
    return live + [_Prefix(tokens=(0,), constraints=_Constraints(missing=()))] * (width - len(live))


def _advance(
    sentences: list[_Sentence], log_probabilities: Tensor, eos: int, config: SearchConfig
) -> None:
    """Extend the live prefixes of each sentence by a token, and end the searches that are over."""
    count = min(2 * config.beam_size, log_probabilities.size(-1))
    best, tokens = (of_all.tolist() for of_all in top_tokens(log_probabilities, count))
    by_phrases = _extend_by_phrases(sentences, log_probabilities)
    for place, sentence in enumerate(sentences):
        candidates = by_phrases[place]
        taken = {(candidate.parent, candidate.token) for candidate in candidates}
        by_others: defaultdict[int, list[Iterator[_Candidate]]] = defaultdict(list)
        for row, prefix in enumerate(sentence.live):
            if not _has_no_room(prefix, sentence.limit):
                of_tokens = zip(tokens[place][row], best[place][row], strict=True)
                found = _extend_by_others(prefix, row, of_tokens, taken, eos)
                by_others[len(prefix.constraints.missing)].append(found)
        for of_group in by_others.values():
            ranked = merge(*of_group, key=lambda candidate: -candidate.rank)
            candidates += _first(ranked, eos, config.beam_size)
        _choose(sentence, candidates, eos, config)


def _extend_by_phrases(
    sentences: list[_Sentence], log_probabilities: Tensor
) -> list[list[_Candidate]]:
    """Extend the live prefixes of each sentence by all tokens that their phrases ask for.

    Few are among the most probable, so the device is asked for their log-probabilities, in one go.

    Within a phrase the rank stays as it was when the phrase began. Otherwise, at every step, a
    prefix that has paid for most of an improbable phrase would lose its place to one that has just
    begun it, until the end of the sentence.
    """
    found: list[list[_Candidate]] = [[] for _ in sentences]
    steps = [
        (place, row, token, constraints)
        for place, sentence in enumerate(sentences)
        for row, prefix in enumerate(sentence.live)
        for token, constraints in _steps_of_phrases(prefix, sentence.limit)
    ]
    if not steps:
        return found
    indices = torch.tensor([step[:3] for step in steps], device=log_probabilities.device)
    values = log_probabilities[indices.unbind(dim=1)].tolist()
    for (place, row, token, constraints), value in zip(steps, values, strict=True):
        prefix = sentences[place].live[row]
        total = prefix.log_probability + value
        is_within = prefix.constraints.remainder and constraints.remainder
        rank = prefix.rank if is_within else total
        found[place].append(_Candidate(row, token, value, total, constraints, rank))
    return found


def _steps_of_phrases(prefix: _Prefix, limit: int) -> Iterator[tuple[int, _Constraints]]:
    """Yield the tokens that begin a missing phrase, or the one that continues the current phrase.

    With each token come the constraints after it.
    """
    constraints = prefix.constraints
    if constraints.remainder:
        token, *remainder = constraints.remainder
        yield token, _Constraints(constraints.missing, constraints.phrase, tuple(remainder))
        return
    must_begin = _has_no_room(prefix, limit)
    for phrase in dict.fromkeys(constraints.missing):
        others = list(constraints.missing)
        others.remove(phrase)
        for spelling in phrase.spellings:
            first, *remainder = spelling.tokens
            follows_badly = prefix.tokens[-1] in spelling.not_after
            if must_begin or not (follows_badly or first in constraints.forbidden):
                yield first, _Constraints(tuple(others), phrase, tuple(remainder))


def _has_no_room(prefix: _Prefix, limit: int) -> bool:
    """Tell whether nothing but the required phrases may follow."""
    missing, _, remainder = prefix.constraints
    length = len(prefix.tokens) - 1
    return bool(remainder or (missing and length + _length(missing) + 1 >= limit))


def _extend_by_others(
    prefix: _Prefix,
    row: int,
    of_tokens: Iterable[tuple[int, float]],
    taken: set[tuple[int, int]],
    eos: int,
) -> Iterator[_Candidate]:
    """Extend a prefix by tokens that no phrase asks for, the most probable first, as long as asked.

    Of the many that are possible, few are better than all those that a beam has place for. Those
    that a phrase asks for are `taken`, as (row, token).
    """
    after = _Constraints(prefix.constraints.missing)
    for token, value in of_tokens:
        if (row, token) not in taken and _may_follow(token, prefix.constraints, eos):
            total = prefix.log_probability + value
            yield _Candidate(row, token, value, total, after, rank=total)


def _may_follow(token: int, constraints: _Constraints, eos: int) -> bool:
    """Tell whether a token that no phrase asks for may follow."""
    if token == eos:
        return not constraints.missing
    if token in constraints.forbidden:
        return False
    return not any(token in phrase.only_behind for phrase in constraints.missing)


def _first(ranked: Iterator[_Candidate], eos: int, count: int) -> Iterator[_Candidate]:
    """Take so many candidates that do not end, and those before them that do."""
    for candidate in ranked:
        yield candidate
        count -= candidate.token != eos
        if count == 0:
            return


def _extend(prefix: _Prefix, candidate: _Candidate) -> _Prefix:
    return _Prefix(
        tokens=(*prefix.tokens, candidate.token),
        token_log_probabilities=(
            *prefix.token_log_probabilities,
            candidate.token_log_probability,
        ),
        log_probability=candidate.log_probability,
        constraints=candidate.constraints,
        rank=candidate.rank,
        parent=candidate.parent,
    )


def _choose(
    sentence: _Sentence, candidates: list[_Candidate], eos: int, config: SearchConfig
) -> None:
    """Divide the beam among the candidates, set aside those that end, and see which can go on."""
    chosen = [
        _extend(sentence.live[candidate.parent], candidate)
        for candidate in _share(candidates, eos, config.beam_size)
    ]
    ended = [prefix for prefix in chosen if prefix.tokens[-1] == eos]
    live = [prefix for prefix in chosen if prefix.tokens[-1] != eos]
    _keep(sentence, ended, eos, config)
    sentence.live = live
    if not live:
        return
    highest = max(prefix.log_probability for prefix in live)
    length = len(live[0].tokens) - 1
    scores = [hypothesis.score for hypothesis in sentence.ended]
    ending = why_over(scores, highest, length, sentence.limit, config)
    if ending == "the length limit is reached":
        _keep(sentence, live, eos, config)  # there was room for all phrases, so none is missing
    if ending is not None:
        sentence.live = []


def _share(candidates: list[_Candidate], eos: int, width: int) -> Iterator[_Candidate]:
    """Give each group an equal share of the beam, and the best candidates the rest.

    If there are more groups than places, those that miss the fewest phrases get one each.
    Candidates that end take no place, but only those that are better than the last of their group
    that does are taken.
    """
    ranked = sorted(
        (candidate for candidate in candidates if candidate.log_probability > -math.inf),
        key=lambda candidate: -candidate.rank,
    )
    groups = [candidate.constraints.group for candidate in ranked]
    sharing = sorted(set(groups))[:width]
    left = dict.fromkeys(sharing, width // max(1, len(sharing)))
    places, second_choice = width, []
    for candidate, group in zip(ranked, groups, strict=True):
        ends = candidate.token == eos
        if left.get(group):
            yield candidate
            left[group] -= not ends
            places -= not ends
        elif not ends:
            second_choice.append(candidate)
    yield from second_choice[:places]


def _keep(sentence: _Sentence, prefixes: list[_Prefix], eos: int, config: SearchConfig) -> None:
    """Add translations to those that are kept, the best scored first, the unfinished last.

    The same tokens come twice where one of them begins a phrase in one prefix and is an ordinary
    token in another.
    """
    for prefix in prefixes:
        found = build_hypothesis(
            prefix.tokens[1:], prefix.token_log_probabilities, eos=eos, config=config
        )
        if all(found.ids != kept.ids for kept in sentence.ended):
            sentence.ended.append(found)
    sentence.ended.sort(key=lambda kept: (not kept.finished, -kept.score))
