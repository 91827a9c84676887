"""Search among some tokens only: each sentence has a list of those that it may produce.

Within such a search, a token is identified by its place in its sentence's list. To beam search,
greedy search, sampling and the search for phrases, the lists are just a smaller vocabulary, so they
know nothing of all this. A sentence's result depends on its own list, whatever the others in its
batch have.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.search import search

Narrow = Callable[[Tensor], Callable[[Tensor, State], tuple[Tensor, State]]]
"""From some tokens of the vocabulary to a step that gives the logits of these alone, in order."""


@dataclass(frozen=True)
class _ListedState(Generic[State]):
    """What a model remembers of some sentences, and their lists."""

    model: State

    lists: Int[Tensor, "batch places"]
    """Each token of each list, as its place in the union of all lists."""

    filling: Bool[Tensor, "batch places"]
    """Which places are after the end of a list."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "_ListedState[State]":
        """Keep these sentences of the batch."""
        return _ListedState(
            self.model.select(sentences), self.lists[sentences], self.filling[sentences]
        )

    def reorder(self, parents: Int[Tensor, "batch prefixes"]) -> "_ListedState[State]":
        """Let each prefix continue the one in its parent's place."""
        return replace(self, model=self.model.reorder(parents))


def search_listed(
    problem: SearchProblem[State],
    listed: Sequence[Sequence[int]],
    narrow: Narrow[State],
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]] | None,
) -> list[list[Hypothesis]]:
    """Search as `search` does, but let each sentence produce only the tokens of its list.

    The end of the sentence, the prefix of a translation and the phrases required of it belong to
    each list. Probabilities are normalised over the list, so that what the model gives to other
    tokens is redistributed among those of the list. Logits are computed for the tokens that any
    sentence of the batch has on its list, and each sentence sees only its own.

    Args:
        problem: In the ids of the whole vocabulary.
        listed: The tokens of each sentence.
        narrow: Makes the step of the problem give the logits of some tokens alone.
        config: The settings of the search.
        required: Phrases of each sentence, as for `search`.
    """
    phrases: Sequence[Sequence[Phrase]] = required or [()] * len(listed)
    special = tuple(dict.fromkeys((problem.eos, problem.bos, *problem.forbidden)))
    lists = [
        list(dict.fromkeys((*special, *prefix, *_tokens(of_sentence), *tokens)))
        for prefix, of_sentence, tokens in zip(problem.prefixes, phrases, listed, strict=True)
    ]
    found = search(
        _in_places(problem, lists, narrow),
        config,
        None if required is None else list(map(_write_phrases, phrases, lists)),
    )
    return [
        [replace(each, ids=tuple(tokens[place] for place in each.ids)) for each in of_sentence]
        for tokens, of_sentence in zip(lists, found, strict=True)
    ]


def _in_places(
    problem: SearchProblem[State], lists: Sequence[list[int]], narrow: Narrow[State]
) -> SearchProblem[_ListedState[State]]:
    """Rewrite a problem in places of lists, which all begin with the same special tokens."""
    rows = [torch.tensor(tokens) for tokens in lists]
    filled = pad_sequence(rows, batch_first=True, padding_value=-1).to(problem.device)
    filling = filled < 0
    union, places = filled.masked_fill(filling, problem.eos).unique(return_inverse=True)
    step_of_union = narrow(union)

    def step(chosen: Tensor, state: _ListedState[State]) -> tuple[Tensor, _ListedState[State]]:
        logits, model = step_of_union(union[state.lists.gather(1, chosen)], state.model)
        own = logits.gather(2, state.lists[:, None].expand(-1, logits.size(1), -1))
        return own.masked_fill(state.filling[:, None], -math.inf), replace(state, model=model)

    first = lists[0]
    return SearchProblem(
        step=step,
        state=_ListedState(problem.state, places, filling),
        sources=problem.sources,
        prefixes=list(map(_write, problem.prefixes, lists)),
        bos=first.index(problem.bos),
        eos=first.index(problem.eos),
        forbidden=_write(problem.forbidden, first),
        device=problem.device,
    )


def _write(tokens: Sequence[int], listed: list[int]) -> tuple[int, ...]:
    """Return the places of tokens in a list."""
    return tuple(listed.index(token) for token in tokens)


def _tokens(phrases: Sequence[Phrase]) -> list[int]:
    """List the tokens of all spellings of some phrases."""
    return [
        token for phrase in phrases for spelling in phrase.spellings for token in spelling.tokens
    ]


def _write_phrases(phrases: Sequence[Phrase], listed: list[int]) -> list[Phrase]:
    """Rewrite phrases in places of a list; a token that is not on it need not be excluded."""

    def on_list(tokens: frozenset[int]) -> frozenset[int]:
        return frozenset(place for place, token in enumerate(listed) if token in tokens)

    return [
        Phrase(
            spellings=tuple(
                replace(
                    spelling,
                    tokens=_write(spelling.tokens, listed),
                    not_after=on_list(spelling.not_after),
                )
                for spelling in phrase.spellings
            ),
            not_before=on_list(phrase.not_before),
            only_behind=on_list(phrase.only_behind),
        )
        for phrase in phrases
    ]
