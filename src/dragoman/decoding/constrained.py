"""Beam search for translations that must have certain phrases (Post and Vilar 2018).

A beam search that merely forbade a translation to end while a phrase is missing would fill its beam
with prefixes that put the phrases off, and then add them where they do not belong. Therefore
prefixes compete only with those that miss the same number of phrases, and each such group gets its
share of the beam.

Prefixes within a phrase form groups of their own, and are compared by how probable they were when
the phrase began. Otherwise, at every step, a prefix that has paid for most of an improbable phrase
would lose its place to one that has just begun it, until the end of the sentence.
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


@dataclass(frozen=True, kw_only=True)
class _Prefix:
    """The beginning of a translation, and what is required of the rest."""

    tokens: tuple[int, ...]
    token_log_probabilities: tuple[float, ...] = ()
    log_probability: float = 0.0
    parent: int = 0
    """Which prefix of the previous step it continues."""

    missing: tuple[Phrase, ...]
    """The phrases that have not begun."""

    phrase: Phrase | None = None
    """The one that the last token belongs to."""

    remainder: tuple[int, ...] = ()
    """What is left of it; nothing else may follow."""

    rank: float = 0.0
    """What it is compared by: its log-probability; within a phrase, that up to the phrase's first
    token."""


class _Step(NamedTuple):
    """A token that may follow a prefix, and what is then required of the rest."""

    token: int
    missing: tuple[Phrase, ...]
    phrase: Phrase | None = None
    remainder: tuple[int, ...] = ()


class _Candidate(NamedTuple):
    """A step from one of the live prefixes; only the few that are chosen become prefixes."""

    log_probability: float
    """That of the prefix with the step."""

    row: int
    """Which of the prefixes it extends."""

    step: _Step
    of_token: float
    """The log-probability of the token alone."""

    rank: float
    """That of the prefix with the step."""

    @property
    def group(self) -> tuple[int, bool]:
        """Which other candidates it is compared with."""
        return len(self.step.missing), bool(self.step.remainder)


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
                    missing=tuple(phrases),
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
    return live + [_Prefix(tokens=(0,), missing=())] * (width - len(live))


def _advance(
    sentences: list[_Sentence], log_probabilities: Tensor, eos: int, config: SearchConfig
) -> None:
    """Extend the live prefixes of each sentence by a token, and end the searches that are over."""
    count = min(2 * config.beam_size, log_probabilities.size(-1))
    best, tokens = (of_all.tolist() for of_all in top_tokens(log_probabilities, count))
    steps = [
        [_required_steps(prefix, sentence.limit) for prefix in sentence.live]
        for sentence in sentences
    ]
    values = iter(_look_up(log_probabilities, steps))
    for place, sentence in enumerate(sentences):
        candidates: list[_Candidate] = []
        others: defaultdict[int, list[Iterator[_Candidate]]] = defaultdict(list)
        for row, prefix in enumerate(sentence.live):
            required = steps[place][row]
            for step in required:
                value = next(values)
                total = prefix.log_probability + value
                rank = prefix.rank if prefix.remainder and step.remainder else total
                candidates.append(_Candidate(total, row, step, value, rank))
            if not _has_no_room(prefix, sentence.limit):
                of_tokens = zip(tokens[place][row], best[place][row], strict=True)
                found = _other_steps(prefix, row, required, of_tokens, eos)
                others[len(prefix.missing)].append(found)
        for group in others.values():
            ranked = merge(*group, key=lambda candidate: -candidate.rank)
            candidates += _first(ranked, eos, config.beam_size)
        _choose(sentence, candidates, eos, config)


def _other_steps(
    prefix: _Prefix,
    row: int,
    required: list[_Step],
    of_tokens: Iterable[tuple[int, float]],
    eos: int,
) -> Iterator[_Candidate]:
    """Extend a prefix by tokens that no phrase asks for, the most probable first, as long as asked.

    Of the many that are possible, few are better than all those that a beam has place for.
    """
    for token, value in of_tokens:
        if _may_follow(token, prefix, required, eos):
            total = prefix.log_probability + value
            yield _Candidate(total, row, _Step(token, prefix.missing), value, total)


def _first(ranked: Iterator[_Candidate], eos: int, count: int) -> Iterator[_Candidate]:
    """Take so many candidates that do not end, and those before them that do."""
    for candidate in ranked:
        yield candidate
        count -= candidate.step.token != eos
        if count == 0:
            return


def _required_steps(prefix: _Prefix, limit: int) -> list[_Step]:
    """List the tokens that begin a missing phrase, or the one that continues the current phrase."""
    if prefix.remainder:
        token, *remainder = prefix.remainder
        return [_Step(token, prefix.missing, prefix.phrase, tuple(remainder))]
    found, must_begin = [], _has_no_room(prefix, limit)
    for phrase in dict.fromkeys(prefix.missing):
        others = list(prefix.missing)
        others.remove(phrase)
        for spelling in phrase.spellings:
            first, *remainder = spelling.tokens
            fits = prefix.tokens[-1] not in spelling.not_after and first not in _forbidden(prefix)
            if must_begin or fits:
                found.append(_Step(first, tuple(others), phrase, tuple(remainder)))
    return found


def _forbidden(prefix: _Prefix) -> frozenset[int]:
    """Return the tokens that may not follow, as they would make a phrase into something longer."""
    return frozenset() if prefix.phrase is None else prefix.phrase.not_before


def _has_no_room(prefix: _Prefix, limit: int) -> bool:
    """Tell whether nothing but the required phrases may follow."""
    if prefix.remainder:
        return True
    length = len(prefix.tokens) - 1
    return bool(prefix.missing) and length + _length(prefix.missing) + 1 >= limit


def _may_follow(token: int, prefix: _Prefix, required: list[_Step], eos: int) -> bool:
    """Tell whether a token that no phrase asks for may follow."""
    if token == eos:
        return not prefix.missing
    if token in _forbidden(prefix):
        return False
    if any(token in phrase.only_behind for phrase in prefix.missing):
        return False
    return all(step.token != token for step in required)


def _look_up(log_probabilities: Tensor, steps: list[list[list[_Step]]]) -> list[float]:
    """Read the log-probabilities of all steps, in order, from the device in one go."""
    places = [
        (place, row, step.token)
        for place, of_sentence in enumerate(steps)
        for row, of_prefix in enumerate(of_sentence)
        for step in of_prefix
    ]
    if not places:
        return []
    sentences, rows, tokens = torch.tensor(places, device=log_probabilities.device).unbind(dim=1)
    values: list[float] = log_probabilities[sentences, rows, tokens].tolist()
    return values


def _extend(prefix: _Prefix, candidate: _Candidate) -> _Prefix:
    step = candidate.step
    return _Prefix(
        tokens=(*prefix.tokens, step.token),
        token_log_probabilities=(*prefix.token_log_probabilities, candidate.of_token),
        log_probability=candidate.log_probability,
        parent=candidate.row,
        missing=step.missing,
        phrase=step.phrase,
        remainder=step.remainder,
        rank=candidate.rank,
    )


def _choose(
    sentence: _Sentence, candidates: list[_Candidate], eos: int, config: SearchConfig
) -> None:
    """Divide the beam among the candidates, set aside those that end, and see which can go on."""
    chosen = [
        _extend(sentence.live[candidate.row], candidate)
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
    groups = sorted({candidate.group for candidate in ranked})[:width]
    left = dict.fromkeys(groups, width // max(1, len(groups)))
    places, second_choice = width, []
    for candidate in ranked:
        ends = candidate.step.token == eos
        if left.get(candidate.group):
            yield candidate
            left[candidate.group] -= not ends
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
