"""Search among some tokens only: each sentence has a list of those that it may produce.

Within such a search, a token has a local id: its index in its sentence's list. To beam search,
greedy search, sampling and the search for phrases, the lists are just a smaller vocabulary, so they
know nothing of all this. A sentence's result depends on its own list, whatever the others in its
batch have.

The model computes the logits of a group of sentences at a time, with a column for each token that
any of them has on its list; each sentence then takes the columns of its own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.search import search

ROWS_TOGETHER = 128
"""On a CPU, sentences with so many prefixes share a product. With more sentences, more tokens are
on the list of any of them; with fewer rows, a product takes longer for each
(`benchmarks/shortlist.md`)."""

Project = Callable[[Tensor], Tensor]
"""From the states of some prefixes to the logits of some tokens."""

Narrow = Callable[[Tensor], Project]
"""From some tokens of the vocabulary to what computes the logits of these alone, in order."""

StepProjecting = Callable[[Tensor, State, Project], tuple[Tensor, State]]
"""A step whose logits are what this makes of the model's states."""


@dataclass(frozen=True)
class _ListedState(Generic[State]):
    """What a model remembers of some sentences, and their lists."""

    model: State

    groups: Int[Tensor, " batch"]
    """Which sentences share a product: those of the first group, those of the second..."""

    columns: Int[Tensor, "batch local_ids"]
    """Where the logit of each token of a list is among those of its group."""

    tokens: Int[Tensor, "batch local_ids"]
    """The same tokens in the vocabulary."""

    filling: Bool[Tensor, "batch local_ids"]
    """Which local ids are after the end of a list, as the lists differ in length."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "_ListedState[State]":
        """Keep these sentences of the batch, in their order."""
        return _ListedState(
            self.model.select(sentences),
            self.groups[sentences],
            self.columns[sentences],
            self.tokens[sentences],
            self.filling[sentences],
        )

    def reorder(self, parents: Int[Tensor, "batch prefixes"]) -> "_ListedState[State]":
        """Let each prefix continue the one in its parent's place."""
        return replace(self, model=self.model.reorder(parents))


def search_listed(
    problem: SearchProblem[State],
    listed: Sequence[Sequence[int]],
    step: StepProjecting[State],
    narrow: Narrow,
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]] | None,
) -> list[list[Hypothesis]]:
    """Search as `search` does, but let each sentence produce only the tokens of its list.

    The end of the sentence, the prefix of a translation and the phrases required of it belong to
    each list. Probabilities are normalised over the list, so that what the model gives to other
    tokens is redistributed among those of the list.

    Args:
        problem: In the ids of the whole vocabulary.
        listed: The tokens of each sentence.
        step: The step of the problem, with another projection than to the whole vocabulary.
        narrow: Makes such projections.
        config: The settings of the search.
        required: Phrases of each sentence, as for `search`.
    """
    phrases: Sequence[Sequence[Phrase]] = required or [()] * len(listed)
    special = tuple(dict.fromkeys((problem.eos, problem.bos, *problem.forbidden)))
    lists = [
        list(dict.fromkeys((*special, *prefix, *_tokens(of_sentence), *tokens)))
        for prefix, of_sentence, tokens in zip(
            problem.forced_prefixes, phrases, listed, strict=True
        )
    ]
    found = search(
        _localize(problem, lists, step, narrow, config.width),
        config,
        None if required is None else list(map(_localize_phrases, phrases, lists)),
    )
    return [
        [replace(each, ids=tuple(tokens[local_id] for local_id in each.ids)) for each in hypotheses]
        for tokens, hypotheses in zip(lists, found, strict=True)
    ]


def _localize(
    problem: SearchProblem[State],
    lists: Sequence[list[int]],
    step: StepProjecting[State],
    narrow: Narrow,
    width: int,
) -> SearchProblem[_ListedState[State]]:
    """Rewrite a problem in local ids. All lists begin with the same special tokens."""
    rows = [torch.tensor(tokens) for tokens in lists]
    filled = pad_sequence(rows, batch_first=True, padding_value=-1).to(problem.device)
    filling = filled < 0
    tokens = filled.masked_fill(filling, problem.eos)
    # A GPU is not asked how many sentences of a group are left.
    of_group = len(lists) if problem.runs_ahead else max(1, ROWS_TOGETHER // width)
    unions, columns = zip(
        *(part.unique(return_inverse=True) for part in tokens.split(of_group)), strict=True
    )
    projections = list(map(narrow, unions))

    def step_locally(
        chosen: Tensor, state: _ListedState[State]
    ) -> tuple[Tensor, _ListedState[State]]:
        project = partial(_local_logits, state, projections)
        logits, model = step(state.tokens.gather(1, chosen), state.model, project)
        return logits.masked_fill(state.filling[:, None], -math.inf), replace(state, model=model)

    groups = torch.arange(len(lists), device=problem.device) // of_group
    first = lists[0]
    return SearchProblem(
        step=step_locally,
        state=_ListedState(problem.state, groups, torch.cat(columns), tokens, filling),
        sources=problem.sources,
        forced_prefixes=list(map(_local_ids, problem.forced_prefixes, lists)),
        bos=first.index(problem.bos),
        eos=first.index(problem.eos),
        forbidden=_local_ids(problem.forbidden, first),
        device=problem.device,
    )


def _local_logits(
    state: _ListedState[State],
    projections: Sequence[Project],
    states: Float[Tensor, "batch prefixes d_model"],
) -> Float[Tensor, "batch prefixes local_ids"]:
    """Compute the logits of the tokens of each sentence, a group of sentences at a time."""
    sizes = [len(states)]
    if len(projections) > 1:
        sizes = state.groups.bincount(minlength=len(projections)).tolist()
    return torch.cat(
        [
            project(part).gather(2, columns[:, None].expand(-1, part.size(1), -1))
            for project, part, columns in zip(
                projections, states.split(sizes), state.columns.split(sizes), strict=True
            )
        ]
    )


def _local_ids(tokens: Sequence[int], listed: list[int]) -> tuple[int, ...]:
    """Return the indices of tokens in a list."""
    return tuple(listed.index(token) for token in tokens)


def _tokens(phrases: Sequence[Phrase]) -> list[int]:
    """List the tokens of all spellings of some phrases."""
    return [
        token for phrase in phrases for spelling in phrase.spellings for token in spelling.tokens
    ]


def _localize_phrases(phrases: Sequence[Phrase], listed: list[int]) -> list[Phrase]:
    """Rewrite phrases in local ids; a token that is not on the list need not be excluded."""

    def on_list(tokens: frozenset[int]) -> frozenset[int]:
        return frozenset(local_id for local_id, token in enumerate(listed) if token in tokens)

    return [
        Phrase(
            spellings=tuple(
                replace(
                    spelling,
                    tokens=_local_ids(spelling.tokens, listed),
                    not_after=on_list(spelling.not_after),
                )
                for spelling in phrase.spellings
            ),
            not_before=on_list(phrase.not_before),
            only_behind=on_list(phrase.only_behind),
        )
        for phrase in phrases
    ]
