"""Beam search (section 6.1 of the paper; Wu et al. 2016, section 7)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import SearchProblem, State, worth_dropping


@dataclass(frozen=True)
class Beams:
    """Prefixes of translations, best first: the same number for each sentence."""

    sentences: Int[Tensor, " sentences"]
    """Which sentence of the problem each row belongs to."""

    tokens: Int[Tensor, "sentences prefixes length"]
    """BOS, then what was decoded."""

    token_log_probabilities: Float[Tensor, "sentences prefixes decoded"]
    """One for each token after BOS."""

    log_probabilities: Float[Tensor, "sentences prefixes"]
    """Their sums; minus infinity marks an empty place. A sentence that has no prefix left is
    complete."""

    @property
    def length(self) -> int:
        """Number of tokens in each prefix after BOS."""
        return self.token_log_probabilities.size(2)

    @property
    def is_live(self) -> Bool[Tensor, "sentences prefixes"]:
        """Which places are not empty."""
        return self.log_probabilities > -math.inf

    def drop(self, over: Bool[Tensor, " sentences"]) -> "Beams":
        """Empty all places of these sentences."""
        left = self.log_probabilities.masked_fill(over[:, None], -math.inf)
        return replace(self, log_probabilities=left)

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
            self.sentences[kept],
            self.tokens[kept],
            self.token_log_probabilities[kept],
            self.log_probabilities[kept],
        )


@dataclass(frozen=True)
class Standings:
    """What decides when the search for each sentence is over.

    A batch may have thousands of sentences, so all of them are compared at once, where the model
    computes, and only translations that are among the best are copied to the host.
    """

    limits: Int[Tensor, " sentences"]
    """How many tokens a translation may have."""

    penalties: Float[Tensor, " sentences"]
    """The length penalties of that many tokens."""

    num_ended: Int[Tensor, " sentences"]
    """How many translations have ended."""

    best: Float[Tensor, "sentences n_best"]
    """The scores of the best of them, best first; minus infinity where there are fewer."""

    def add(self, scores: Float[Tensor, "sentences candidates"]) -> "Standings":
        """Count candidates that ended; the others have minus infinity as score."""
        best = torch.cat([self.best, scores], dim=1).topk(self.best.size(1), dim=1).values
        num_ended = self.num_ended + scores.isfinite().sum(dim=1)
        return replace(self, num_ended=num_ended, best=best)

    def are_over(self, beams: Beams, config: SearchConfig) -> Bool[Tensor, " sentences"]:
        """Tell for which sentences `why_over` has a reason."""
        enough = self.num_ended >= config.patience * config.beam_size
        worst, bounds = self.best[:, -1], beams.log_probabilities[:, 0] / self.penalties
        nothing_better = (self.num_ended >= config.n_best) & (worst >= bounds)
        return enough | nothing_better | (self.limits <= beams.length)

    def select(self, kept: Int[Tensor, " kept"]) -> "Standings":
        """Continue with some of the sentences."""
        return Standings(
            self.limits[kept], self.penalties[kept], self.num_ended[kept], self.best[kept]
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
    standings = _no_standings(problem, config)
    beams, logits, state = _start(problem, config.beam_size)
    while True:
        candidates, parents = _extend(problem, beams, logits)
        scores = _scores_of_ended(candidates, problem.eos, config)
        is_better = scores > standings.best[:, -1:]
        standings = standings.add(scores)
        survivors = _survivors(candidates, problem.eos, config.beam_size)
        beams, state = candidates.take(survivors), state.reorder(parents.gather(1, survivors))
        over = standings.are_over(beams, config)
        is_stopped = over[:, None] & beams.is_live & (standings.num_ended < config.n_best)[:, None]
        _collect(candidates, is_better, found, problem.eos, config)
        _collect(beams, is_stopped, found, problem.eos, config)
        beams = beams.drop(over)
        if observer is not None:
            observer(candidates, parents, beams)
        going = beams.is_live[:, 0].nonzero()[:, 0]
        if worth_dropping(len(beams.sentences) - len(going), len(beams.sentences)):
            beams, standings = beams.select(going), standings.select(going)
            state = state.select(going)
        if not len(beams.sentences):
            return found
        logits, state = problem.step(beams.tokens[..., -1], state)


def _no_standings(problem: SearchProblem[State], config: SearchConfig) -> Standings:
    """Begin where nothing has ended."""
    limits = problem.limits(config)
    penalties = [config.penalty(limit) for limit in limits]
    like = torch.tensor(penalties, dtype=torch.float64, device=problem.device)
    return Standings(
        limits=torch.tensor(limits, dtype=torch.long, device=problem.device),
        penalties=like,
        num_ended=torch.zeros_like(like, dtype=torch.long),
        best=like.new_full((len(limits), config.n_best), -math.inf),
    )


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
        sentences=torch.arange(len(problem.sources), device=problem.device),
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


def _scores_of_ended(
    candidates: Beams, eos: int, config: SearchConfig
) -> Float[Tensor, "sentences candidates"]:
    """Score the candidates that end within the beam; the others get minus infinity.

    The sums are exact enough to be compared with those of `build_hypothesis`.
    """
    values = candidates.token_log_probabilities
    ended = (candidates.tokens[..., -1] == eos) & candidates.is_live
    ended[:, config.beam_size :] = False
    sums = values.sum(dim=2, dtype=torch.float64).masked_fill(~ended, -math.inf)
    return sums / config.penalty(candidates.length)


def _survivors(candidates: Beams, eos: int, beam_size: int) -> Int[Tensor, "sentences prefixes"]:
    """Choose the first candidates that do not end."""
    ended = candidates.tokens[..., -1] == eos
    return ended.byte().argsort(dim=1, stable=True)[:, :beam_size]


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


def _collect(
    beams: Beams, chosen: Tensor, found: list[list[Hypothesis]], eos: int, config: SearchConfig
) -> None:
    """Copy the chosen prefixes to the host; keep the best, those that did not end after others."""
    sentences = beams.sentences[chosen.nonzero()[:, 0]].tolist()
    tokens = beams.tokens[chosen][:, 1:].tolist()
    log_probabilities = beams.token_log_probabilities[chosen].tolist()
    for sentence, ids, values in zip(sentences, tokens, log_probabilities, strict=True):
        kept = found[sentence]
        kept.append(build_hypothesis(ids, values, eos=eos, config=config))
        kept.sort(key=lambda hypothesis: (not hypothesis.finished, -hypothesis.score))
        del kept[config.n_best :]
