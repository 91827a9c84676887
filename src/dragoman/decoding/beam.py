"""Beam search (section 6.1 of the paper; Wu et al. 2016, section 7)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import FEW_SENTENCES, SearchProblem, State

WITHOUT_FLOAT64 = ("mps",)
"""Devices that compute in single precision only."""


@dataclass(frozen=True)
class Beams:
    """Prefixes of translations, best first: the same number for each sentence."""

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
            self.tokens[sentences, prefixes],
            self.token_log_probabilities[sentences, prefixes],
            self.log_probabilities[sentences, prefixes],
        )

    def select(self, kept: Int[Tensor, " kept"]) -> "Beams":
        """Continue with some of the sentences."""
        return Beams(
            self.tokens[kept], self.token_log_probabilities[kept], self.log_probabilities[kept]
        )


Rows = tuple[
    Int[Tensor, "sentences prefixes length"],
    Float[Tensor, "sentences prefixes decoded"],
    Bool[Tensor, "sentences prefixes"],
]
"""Tokens after BOS, the log-probability of each, and which of the prefixes are meant."""


@dataclass(frozen=True)
class Ended:
    """The translations that have ended, and what decides when the search for a sentence is over.

    A batch may have thousands of sentences, so all of them are compared at once, where the model
    computes. The host reads those of a sentence when it leaves the batch.
    """

    limits: Int[Tensor, " sentences"]
    """How many tokens a translation may have."""

    penalties: Float[Tensor, " sentences"]
    """The length penalties of that many tokens."""

    count: Int[Tensor, " sentences"]
    """How many translations have ended."""

    scores: Float[Tensor, "sentences n_best"]
    """Those of the best of them, best first; minus infinity where there are fewer."""

    tokens: Int[Tensor, "sentences n_best length"]
    """The best, as in `Beams`, with the end repeated after it."""

    token_log_probabilities: Float[Tensor, "sentences n_best decoded"]
    """Zero after the end."""

    def add(self, candidates: Beams, eos: int, config: SearchConfig) -> "Ended":
        """Set aside the candidates within the beam that end; of all so far, keep the best."""
        values = candidates.token_log_probabilities
        is_new = (candidates.tokens[..., -1] == eos) & candidates.is_live
        is_new[:, config.beam_size :] = False
        # To ask a GPU is to wait for it, which only pays where it has little to do.
        if (is_new.is_cpu or len(is_new) <= FEW_SENTENCES) and not is_new.any():
            return self
        # Here and below, the translations of earlier steps come first, then all candidates, of
        # which those that are not new score minus infinity.
        sums = values.sum(dim=2, dtype=self.scores.dtype).masked_fill(~is_new, -math.inf)
        scores = torch.cat([self.scores, sums / config.penalty(candidates.length)], dim=1)
        # Stable, so that of equals the first one stays.
        order = scores.argsort(dim=1, descending=True, stable=True)[:, : self.scores.size(1)]
        longer = candidates.length - self.token_log_probabilities.size(2)
        tokens = torch.cat([F.pad(self.tokens, (0, longer), value=eos), candidates.tokens], dim=1)
        values = torch.cat([F.pad(self.token_log_probabilities, (0, longer)), values], dim=1)
        return replace(
            self,
            count=self.count + is_new.sum(dim=1),
            scores=scores.gather(1, order),
            tokens=tokens.take_along_dim(order[..., None], dim=1),
            token_log_probabilities=values.take_along_dim(order[..., None], dim=1),
        )

    def are_over(self, beams: Beams, config: SearchConfig) -> Bool[Tensor, " sentences"]:
        """Tell for which sentences `why_over` has a reason."""
        enough = self.count >= config.patience * config.beam_size
        worst, bounds = self.scores[:, -1], beams.log_probabilities[:, 0] / self.penalties
        nothing_better = (self.count >= config.n_best) & (worst >= bounds)
        return enough | nothing_better | (self.limits <= beams.length)

    @property
    def best(self) -> Rows:
        """The tokens, their log-probabilities, and which of them there are."""
        return self.tokens, self.token_log_probabilities, self.scores > -math.inf

    def select(self, kept: Int[Tensor, " kept"]) -> "Ended":
        """Continue with some of the sentences."""
        return Ended(*(getattr(self, field.name)[kept] for field in fields(self)))


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
    limits = torch.tensor(problem.limits(config), dtype=torch.long)
    followed = torch.arange(len(limits))
    ended = _nothing_ended(limits, config, problem.device)
    beams, logits, state = _start(problem, config.beam_size)
    while len(followed):
        candidates, parents = _extend(problem, beams, logits)
        ended = ended.add(candidates, problem.eos, config)
        survivors = _survivors(candidates, problem.eos, config.beam_size)
        beams, state = candidates.take(survivors), state.reorder(parents.gather(1, survivors))
        over = ended.are_over(beams, config)
        # The host knows the limits as well, so no GPU is waited for before one can be reached.
        if beams.length >= limits[followed].min():
            unfinished = (over & (ended.count < config.n_best))[:, None] & beams.is_live
            of_these = (beams.tokens, beams.token_log_probabilities, unfinished)
            _collect(found, followed, of_these, problem.eos, config)
        # A sentence whose search is over has no live prefix from here on, so nothing more of it
        # ends or is collected as unfinished. It stays in the batch until dropping it pays.
        beams = beams.drop(over)
        if observer is not None:
            observer(candidates, parents, beams)
        going, logits, state = problem.advance(beams.tokens[..., -1], state, beams.is_live[:, 0])
        if going is not None:  # some sentences leave the batch
            kept, left = (places.nonzero()[:, 0].to(problem.device) for places in (going, ~going))
            _collect(found, followed[~going], ended.select(left).best, problem.eos, config)
            followed, beams, ended = followed[going], beams.select(kept), ended.select(kept)
    return found


def _nothing_ended(limits: Tensor, config: SearchConfig, device: torch.device) -> Ended:
    """Begin where nothing has ended."""
    of_limits = [config.penalty(limit) for limit in limits.tolist()]
    # Double precision is exact enough for scores to be compared as those of `build_hypothesis`.
    precision = torch.float32 if device.type in WITHOUT_FLOAT64 else torch.float64
    penalties = torch.tensor(of_limits, dtype=precision, device=device)
    return Ended(
        limits=limits.to(device),
        penalties=penalties,
        count=torch.zeros_like(penalties, dtype=torch.long),
        scores=penalties.new_full((len(limits), config.n_best), -math.inf),
        tokens=torch.zeros(len(limits), config.n_best, 1, dtype=torch.long, device=device),
        token_log_probabilities=torch.zeros(len(limits), config.n_best, 0, device=device),
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
    # Of each sentence, the `count` ways to extend its first prefix come first, then the second's.
    best, places = sums.flatten(start_dim=1).topk(2 * beam_size, dim=1)
    tokens, of_tokens = (
        of_all.flatten(start_dim=1).gather(1, places)[..., None] for of_all in (tokens, of_tokens)
    )
    parents = places // count
    before = beams.take(parents)
    candidates = Beams(
        torch.cat([before.tokens, tokens], dim=2),
        torch.cat([before.token_log_probabilities, of_tokens], dim=2),
        best,
    )
    return candidates, parents


def _survivors(candidates: Beams, eos: int, beam_size: int) -> Int[Tensor, "sentences prefixes"]:
    """Choose the first candidates that do not end."""
    ended = candidates.tokens[..., -1] == eos
    return ended.byte().argsort(dim=1, stable=True)[:, :beam_size]


def why_over(
    scores: Sequence[float], best: float, length: int, limit: int, config: SearchConfig
) -> Ending | None:
    """Tell whether the search for a sentence is over, and why.

    Args:
        scores: Those of the translations that have ended, the best first.
        best: The log-probability of the best live prefix.
        length: Number of tokens in each prefix.
        limit: Number of tokens that they may have.
        config: The settings of the search.
    """
    if len(scores) >= config.patience * config.beam_size:
        return "enough have ended"
    bound = best / config.penalty(limit)
    if len(scores) >= config.n_best and scores[config.n_best - 1] >= bound:
        return "nothing better can come"
    return "the length limit is reached" if length >= limit else None


def _collect(
    found: list[list[Hypothesis]],
    sentences: Int[Tensor, " sentences"],
    rows: Rows,
    eos: int,
    config: SearchConfig,
) -> None:
    """Copy translations to the host, and keep the best; unfinished ones come after the others."""
    tokens, log_probabilities, chosen = rows
    places = sentences[chosen.nonzero()[:, 0].cpu()].tolist()
    of_chosen = tokens[chosen][:, 1:].tolist(), log_probabilities[chosen].tolist()
    for sentence, ids, values in zip(places, *of_chosen, strict=True):
        length = ids.index(eos) + 1 if eos in ids else len(ids)
        kept = found[sentence]
        kept.append(build_hypothesis(ids[:length], values[:length], eos=eos, config=config))
        kept.sort(key=lambda hypothesis: (not hypothesis.finished, -hypothesis.score))
        del kept[config.n_best :]
