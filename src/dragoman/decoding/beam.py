"""Beam search (section 6.1 of the paper; Wu et al. 2016, section 7)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import SearchProblem, State, worth_dropping


@dataclass(frozen=True)
class Beams:
    """Prefixes of translations, best first: the same number for each sentence."""

    sentences: tuple[int, ...]
    """Which sentence of the problem each row belongs to."""

    tokens: Int[Tensor, "sentences prefixes length"]
    """BOS, then what was decoded."""

    token_log_probabilities: Float[Tensor, "sentences prefixes decoded"]
    """One for each token after BOS."""

    log_probabilities: Float[Tensor, "sentences prefixes"]
    """Their sums; minus infinity marks an empty place. A sentence that has no prefix left is
    complete."""

    def take(self, prefixes: Int[Tensor, "sentences taken"]) -> "Beams":
        """Choose prefixes of each sentence."""
        sentences = torch.arange(len(prefixes), device=prefixes.device)[:, None]
        return Beams(
            self.sentences,
            self.tokens[sentences, prefixes],
            self.token_log_probabilities[sentences, prefixes],
            self.log_probabilities[sentences, prefixes],
        )

    def select(self, kept: Int[Tensor, " kept"]) -> "Beams":
        """Continue with some of the sentences."""
        return Beams(
            tuple(self.sentences[i] for i in kept.tolist()),
            self.tokens[kept],
            self.token_log_probabilities[kept],
            self.log_probabilities[kept],
        )


Observer = Callable[[Beams, Tensor, Beams], None]
"""Called at each step with the candidates, best first; with which prefix of the previous step each
extends; and with the prefixes that live on, those of a sentence whose search is over at minus
infinity."""

Ending = Literal["enough have ended", "nothing better can come", "the length limit is reached"]
"""Why the search for a sentence is over."""


def beam_search(
    problem: SearchProblem[State], config: SearchConfig, observer: Observer | None = None
) -> list[list[Hypothesis]]:
    """Find the `n_best` translations of each sentence, the best scored first.

    Each step extends every live prefix by every token and takes the 2 * beam most probable
    extensions of each sentence. Those among the first `beam` that end are set aside with their
    score, and never touched again; the first `beam` that do not end live on. There are always
    enough of them, because each prefix can end in only one way.

    The search for a sentence is over when `patience * beam` translations have ended, or earlier,
    once nothing can change any more: a live prefix of log-probability L can at best end at the
    length limit without losing any probability, so its score cannot exceed L / penalty(limit).
    Once `n_best` translations are at least as good as that bound for the best live prefix, they
    are final.

    At the length limit, prefixes that did not end are returned after those that did, and only if
    fewer than `n_best` did.
    """
    found: list[list[Hypothesis]] = [[] for _ in problem.sources]
    limits = problem.limits(config)
    beams, logits, state = _start(problem, config.beam_size)
    while True:
        candidates, parents = _extend(problem, beams, logits)
        _collect_ended(candidates, found, problem.eos, config)
        survivors = _survivors(candidates, problem.eos, config.beam_size)
        beams, state = candidates.take(survivors), state.reorder(parents.gather(1, survivors))
        beams, going = _settle(problem, config, beams, found, limits)
        if observer is not None:
            observer(candidates, parents, beams)
        if worth_dropping(len(beams.sentences) - len(going), len(beams.sentences)):
            kept = torch.tensor(going, dtype=torch.long, device=problem.device)
            beams, state = beams.select(kept), state.select(kept)
        if not beams.sentences:
            return [hypotheses[: config.n_best] for hypotheses in found]
        logits, state = problem.step(beams.tokens[..., -1], state)


def _start(problem: SearchProblem[State], beam_size: int) -> tuple[Beams, Tensor, State]:
    """Start each sentence with one prefix, and leave the other places empty.

    The first step is computed for that prefix alone. Its result is repeated for all places, to have
    the same shape as in later steps.
    """
    beginning = problem.begin(1)
    logits, state = problem.step(beginning.tokens[..., -1], beginning.state)
    log_probabilities = beginning.token_log_probabilities.sum(dim=2).repeat(1, beam_size)
    log_probabilities[:, 1:] = -math.inf
    beams = Beams(
        sentences=tuple(range(len(problem.sources))),
        tokens=beginning.tokens.expand(-1, beam_size, -1),
        token_log_probabilities=beginning.token_log_probabilities.expand(-1, beam_size, -1),
        log_probabilities=log_probabilities,
    )
    the_only_one = torch.zeros_like(beams.tokens[..., 0])
    return beams, logits.expand(-1, beam_size, -1), state.reorder(the_only_one)


def _extend(
    problem: SearchProblem[State], beams: Beams, logits: Tensor
) -> tuple[Beams, Int[Tensor, "sentences candidates"]]:
    """Extend by one token, in the best 2 * beam ways for each sentence; tell what each extends."""
    beam_size = beams.tokens.size(1)
    # What is among the best of a sentence is among the best of its prefix.
    count = min(2 * beam_size, logits.size(2))
    of_tokens, tokens = problem.most_probable(logits, count)
    sums = beams.log_probabilities[..., None] + of_tokens
    best, places = sums.flatten(start_dim=1).topk(2 * beam_size, dim=1)
    tokens, of_tokens = (
        of_all.flatten(start_dim=1).gather(1, places)[..., None] for of_all in (tokens, of_tokens)
    )
    parents = places // count
    before = beams.take(parents)
    candidates = Beams(
        beams.sentences,
        torch.cat([before.tokens, tokens], dim=2),
        torch.cat([before.token_log_probabilities, of_tokens], dim=2),
        best,
    )
    return candidates, parents


def _collect_ended(
    candidates: Beams, found: list[list[Hypothesis]], eos: int, config: SearchConfig
) -> None:
    """Set aside the candidates that end."""
    ended = (candidates.tokens[..., -1] == eos) & (candidates.log_probabilities > -math.inf)
    ended[:, config.beam_size :] = False
    for sentence, hypothesis in _read(candidates, ended, eos, config):
        found[sentence].append(hypothesis)
        found[sentence].sort(key=lambda kept: -kept.score)


def _survivors(candidates: Beams, eos: int, beam_size: int) -> Int[Tensor, "sentences prefixes"]:
    """Choose the first candidates that do not end."""
    ended = candidates.tokens[..., -1] == eos
    return ended.byte().argsort(dim=1, stable=True)[:, :beam_size]


def _settle(
    problem: SearchProblem[State],
    config: SearchConfig,
    beams: Beams,
    found: list[list[Hypothesis]],
    limits: Sequence[int],
) -> tuple[Beams, list[int]]:
    """Drop the prefixes of the sentences whose search is over, and return the places of others."""
    length = beams.tokens.size(2) - 1
    going, complete, at_limit = [], [], []
    for place, best in enumerate(beams.log_probabilities[:, 0].tolist()):
        sentence = beams.sentences[place]
        limit = limits[sentence]
        ending = why_over(found[sentence], best, length, limit, config)
        if ending is not None:
            complete.append(place)
        elif best > -math.inf:
            going.append(place)
        if ending == "the length limit is reached":
            at_limit.append(place)
    if at_limit:
        of_these = torch.tensor(at_limit, device=problem.device)
        _fill_with_unfinished(beams.select(of_these), found, problem.eos, config)
    if complete:
        of_these = torch.tensor(complete, device=problem.device)
        without = beams.log_probabilities.index_fill(0, of_these, -math.inf)
        beams = replace(beams, log_probabilities=without)
    return beams, going


def why_over(
    found: Sequence[Hypothesis], best: float, length: int, limit: int, config: SearchConfig
) -> Ending | None:
    """Tell whether the search for a sentence is over, and why.

    Args:
        found: The translations that have ended, the best scored first.
        best: The log-probability of the best live prefix.
        length: Number of tokens in each prefix.
        limit: Number of tokens that they may have.
        config: The settings of the search.
    """
    if len(found) >= config.patience * config.beam_size:
        return "enough have ended"
    bound = best / config.penalty(limit)
    if len(found) >= config.n_best and found[config.n_best - 1].score >= bound:
        return "nothing better can come"
    return "the length limit is reached" if length >= limit else None


def _fill_with_unfinished(
    beams: Beams, found: list[list[Hypothesis]], eos: int, config: SearchConfig
) -> None:
    """Add prefixes that reached the length limit, where too few translations have ended."""
    for sentence, hypothesis in _read(beams, beams.log_probabilities > -math.inf, eos, config):
        if len(found[sentence]) < config.n_best:
            found[sentence].append(hypothesis)


def _read(
    beams: Beams, chosen: Tensor, eos: int, config: SearchConfig
) -> list[tuple[int, Hypothesis]]:
    """Copy the chosen prefixes to the host, each with its sentence."""
    places = [place for place, row in enumerate(chosen.tolist()) for each in row if each]
    if not places:
        return []
    tokens = beams.tokens[chosen][:, 1:].tolist()
    log_probabilities = beams.token_log_probabilities[chosen].tolist()
    return [
        (beams.sentences[place], build_hypothesis(ids, values, eos=eos, config=config))
        for place, ids, values in zip(places, tokens, log_probabilities, strict=True)
    ]
