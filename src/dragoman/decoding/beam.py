"""Beam search (section 6.1 of the paper; Wu et al. 2016, section 7)."""

import math
from dataclasses import dataclass
from typing import Generic

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import SearchProblem, State


@dataclass(frozen=True)
class Beams:
    """Prefixes of translations, best first: equally many of each sentence."""

    sentences: tuple[int, ...]
    """Which sentence of the problem each row is about."""

    tokens: Int[Tensor, "sentences prefixes length"]
    """BOS, then what was decoded."""

    token_log_probabilities: Float[Tensor, "sentences prefixes decoded"]
    """One for each token after BOS."""

    log_probabilities: Float[Tensor, "sentences prefixes"]
    """Their sums; minus infinity marks a place that no prefix takes."""

    def take(self, prefixes: Int[Tensor, "sentences taken"]) -> "Beams":
        """Choose prefixes of each sentence."""
        sentences = torch.arange(len(prefixes), device=prefixes.device)[:, None]
        return Beams(
            self.sentences,
            self.tokens[sentences, prefixes],
            self.token_log_probabilities[sentences, prefixes],
            self.log_probabilities[sentences, prefixes],
        )

    def keep(self, kept: list[int]) -> "Beams":
        """Go on with some of the sentences."""
        rows = torch.tensor(kept, dtype=torch.long, device=self.tokens.device)
        return Beams(
            tuple(self.sentences[i] for i in kept),
            self.tokens[rows],
            self.token_log_probabilities[rows],
            self.log_probabilities[rows],
        )


@dataclass(frozen=True)
class _Step(Generic[State]):
    """The candidates of one step."""

    candidates: Beams
    parents: Int[Tensor, "sentences candidates"]
    state: State


def beam_search(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Find the `n_best` translations of each sentence, the best scored first.

    Each step extends every live prefix by every token and takes the 2 * beam most probable
    extensions of a sentence. Those among the first `beam` that end are kept apart, with their
    score, and never touched again; the first `beam` that do not end live on. There are always
    enough of them, because each prefix ends in one way only.

    The search of a sentence stops when it can change nothing any more. A live prefix of
    log-probability L can at best end at the length limit without losing any probability, so its
    score cannot exceed L / penalty(limit). Once `n_best` kept translations are at least as good
    as that bound for the best live prefix, they are final.

    At the length limit, prefixes that did not end are returned after those that did, and only
    where fewer than `n_best` did.
    """
    found: list[list[Hypothesis]] = [[] for _ in problem.sources]
    expanded = problem.repeat(config.beam_size)
    beams, state = _start(problem, config.beam_size), expanded.state
    while beams.sentences:
        step = _extend(problem, beams, state)
        _collect_ended(step.candidates, found, problem.eos, config)
        beams, parents = _live(step, problem.eos, config.beam_size)
        going = _unsettled(problem, config, beams, found)
        state = _follow(step.state, parents, going)
        beams = beams.keep(going)
    return found


def _start(problem: SearchProblem[State], beam_size: int) -> Beams:
    """Begin each sentence with one prefix, BOS, and leave the other places empty."""
    shape = (len(problem.sources), beam_size)
    log_probabilities = torch.full(shape, -math.inf, device=problem.device)
    log_probabilities[:, 0] = 0.0
    return Beams(
        sentences=tuple(range(len(problem.sources))),
        tokens=torch.full((*shape, 1), problem.bos, device=problem.device),
        token_log_probabilities=torch.empty(*shape, 0, device=problem.device),
        log_probabilities=log_probabilities,
    )


def _extend(problem: SearchProblem[State], beams: Beams, state: State) -> _Step[State]:
    """Advance by one token, in the best 2 * beam ways for each sentence."""
    beam_size = beams.tokens.size(1)
    logits, state = problem.step(beams.tokens[:, :, -1].flatten(), state)
    log_probabilities = problem.log_probabilities(logits).unflatten(0, (-1, beam_size))
    sums = (beams.log_probabilities[:, :, None] + log_probabilities).flatten(start_dim=1)
    best, places = top_candidates(sums, 2 * beam_size)
    parents, tokens = places // logits.size(1), places % logits.size(1)
    of_tokens = log_probabilities.flatten(start_dim=1).gather(1, places)
    before = beams.take(parents)
    candidates = Beams(
        beams.sentences,
        torch.cat([before.tokens, tokens[:, :, None]], dim=2),
        torch.cat([before.token_log_probabilities, of_tokens[:, :, None]], dim=2),
        best,
    )
    return _Step(candidates, parents, state)


def top_candidates(
    scores: Float[Tensor, "rows candidates"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """Take the best scores of each row and their places; of equal scores the earlier comes first.

    `topk` alone takes any of equal scores. They are rare, so the sort that settles them is too.
    """
    best, places = scores.topk(count, dim=1)
    places = places.sort(dim=1).values
    best, order = scores.gather(1, places).sort(dim=1, descending=True, stable=True)
    places = places.gather(1, order)
    threshold = best[:, -1:]
    tied = (scores >= threshold).sum(dim=1, keepdim=True) > count
    tied &= threshold > -math.inf  # minus infinity is no candidate, so its place does not matter
    if tied.any():
        settled, settled_places = scores.sort(dim=1, descending=True, stable=True)
        best = torch.where(tied, settled[:, :count], best)
        places = torch.where(tied, settled_places[:, :count], places)
    return best, places


def _collect_ended(
    candidates: Beams, found: list[list[Hypothesis]], eos: int, config: SearchConfig
) -> None:
    """Keep the candidates that end, and of a sentence's only the `n_best`."""
    ended = (candidates.tokens[:, :, -1] == eos) & (candidates.log_probabilities > -math.inf)
    ended[:, config.beam_size :] = False
    for sentence, hypothesis in _read(candidates, ended, eos, config):
        kept = found[sentence]
        kept.append(hypothesis)
        kept.sort(key=lambda kept: -kept.score)
        del kept[config.n_best :]


def _live(step: _Step[State], eos: int, beam_size: int) -> tuple[Beams, Tensor]:
    """Take the first candidates that do not end, and where they come from."""
    ended = step.candidates.tokens[:, :, -1] == eos
    survivors = ended.byte().argsort(dim=1, stable=True)[:, :beam_size]
    return step.candidates.take(survivors), step.parents.gather(1, survivors)


def _unsettled(
    problem: SearchProblem[State],
    config: SearchConfig,
    beams: Beams,
    found: list[list[Hypothesis]],
) -> list[int]:
    """List the places of the sentences whose search goes on, and complete those that stop."""
    length = beams.tokens.size(2) - 1
    going, at_limit = [], []
    for place, best in enumerate(beams.log_probabilities.amax(dim=1).tolist()):
        sentence = beams.sentences[place]
        limit = config.max_length(len(problem.sources[sentence]))
        kept = found[sentence]
        if length >= limit:
            at_limit.append(place)
        elif len(kept) < config.n_best or kept[-1].score < best / config.penalty(limit):
            going.append(place)
    if at_limit:
        _fill_with_unfinished(beams.keep(at_limit), found, problem.eos, config)
    return going


def _fill_with_unfinished(
    beams: Beams, found: list[list[Hypothesis]], eos: int, config: SearchConfig
) -> None:
    """Return prefixes that met the length limit, where nothing better is left."""
    for sentence, hypothesis in _read(beams, beams.log_probabilities > -math.inf, eos, config):
        if len(found[sentence]) < config.n_best:
            found[sentence].append(hypothesis)


def _read(
    beams: Beams, chosen: Tensor, eos: int, config: SearchConfig
) -> list[tuple[int, Hypothesis]]:
    """Bring the chosen prefixes to the host, each with its sentence."""
    places = chosen.nonzero()[:, 0].tolist()
    if not places:
        return []
    tokens = beams.tokens[chosen][:, 1:].tolist()
    log_probabilities = beams.token_log_probabilities[chosen].tolist()
    return [
        (beams.sentences[place], build_hypothesis(ids, values, eos=eos, config=config))
        for place, ids, values in zip(places, tokens, log_probabilities, strict=True)
    ]


def _follow(state: State, parents: Int[Tensor, "sentences beam"], going: list[int]) -> State:
    """Let the rows of the state stand where the live prefixes of the going sentences do."""
    first_rows = torch.arange(len(parents), device=parents.device)[:, None] * parents.size(1)
    rows = first_rows + parents
    if len(going) == len(parents):
        return state.reorder(rows.flatten())
    return state.select(rows[torch.tensor(going, dtype=torch.long, device=rows.device)].flatten())
