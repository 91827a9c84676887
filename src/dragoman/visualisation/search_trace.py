"""What a beam search considered, and what became of it, recorded while it searches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from dragoman.decoding.beam import Beams, Ending, beam_search, why_over
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem, State

Fate = Literal["lives on", "ended", "below the beam", "ended below the beam", "over"]
"""What became of a candidate.

lives on                it is among the first `beam` that do not end, and will be extended
ended                   it ends among the first `beam`, and is kept apart with its score
below the beam          it does not end, and `beam` that do not end are more probable
ended below the beam    it ends behind the first `beam` candidates, and is dropped
over                    it would live on, but the search is over
"""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A prefix of a translation, one token longer than those of the step before."""

    ids: tuple[int, ...]
    """Its tokens after BOS, EOS included if it ends."""

    parent: int | None
    """Which candidate of the step before it extends, from 0; None extends BOS."""

    token_log_probability: float
    """Of its last token, given the others."""

    log_probability: float
    """Of all its tokens: what candidates are ordered by."""

    score: float
    """The log-probability divided by the length penalty: what translations are ranked by."""

    fate: Fate


@dataclass(frozen=True, kw_only=True)
class SearchStep:
    """The candidates of one step, the most probable first."""

    candidates: tuple[Candidate, ...]
    ending: Ending | None
    """Why the search is over after this step, if it is."""


@dataclass(frozen=True, kw_only=True)
class SearchTrace:
    """A beam search of one sentence."""

    config: SearchConfig
    max_length: int
    """Tokens that a translation may have, its end included."""

    steps: tuple[SearchStep, ...]
    """Empty if the search was greedy."""

    hypotheses: tuple[Hypothesis, ...]
    """What the search returned, the best first."""

    @property
    def ended(self) -> list[Candidate]:
        """What ended, the best first, followed by what was returned although it was cut off."""
        ended = [c for step in self.steps for c in step.candidates if c.fate == "ended"]
        ended.sort(key=lambda candidate: -candidate.score)
        returned = {hypothesis.ids for hypothesis in self.hypotheses if not hypothesis.finished}
        last = self.steps[-1].candidates if self.steps else ()
        return ended + [candidate for candidate in last if candidate.ids in returned]


def trace_search(problem: SearchProblem[State], config: SearchConfig) -> SearchTrace:
    """Search for the translation of one sentence, and record what is seen on the way.

    Greedy search, with a beam of one, has no candidates to show.
    """
    (source,) = problem.sources
    recorder = _Recorder(config=config, eos=problem.eos, limit=config.max_length(len(source)))
    with torch.inference_mode():
        (hypotheses,) = (
            greedy_search(problem, config)
            if config.beam_size == 1
            else beam_search(problem, config, recorder.observe)
        )
    return SearchTrace(
        config=config,
        max_length=recorder.limit,
        steps=tuple(recorder.steps),
        hypotheses=tuple(hypotheses),
    )


@dataclass(kw_only=True)
class _Recorder:
    """Turns what a beam search reports into steps."""

    config: SearchConfig
    eos: int
    limit: int
    steps: list[SearchStep] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    """Ranks of the live prefixes among the candidates of the last step."""

    def observe(self, candidates: Beams, parents: Tensor, live: Beams) -> None:
        """Record a step of the search for one sentence."""
        ids = [tuple(row[1:]) for row in candidates.tokens[0].tolist()]
        sums = candidates.log_probabilities[0].tolist()
        of_tokens = candidates.token_log_probabilities[0].tolist()
        survivors = [ids.index(tuple(row[1:])) for row in live.tokens[0].tolist()]
        is_over = live.log_probabilities[0, 0].item() == -math.inf
        seen = []
        for rank, parent in enumerate(parents[0].tolist()):
            if sums[rank] == -math.inf:  # a place that no prefix takes
                break
            # As hypotheses are scored, so that the search is over for the same reason.
            score = math.fsum(of_tokens[rank]) / self.config.penalty(len(ids[rank]))
            seen.append(
                Candidate(
                    ids=ids[rank],
                    parent=self.live[parent] if self.live else None,
                    token_log_probability=of_tokens[rank][-1],
                    log_probability=sums[rank],
                    score=score,
                    fate=self._fate(ids[rank], rank, rank in survivors, is_over),
                )
            )
        self.live = survivors
        ending = self._ending(seen) if is_over else None
        self.steps.append(SearchStep(candidates=tuple(seen), ending=ending))

    def _fate(self, ids: tuple[int, ...], rank: int, survives: bool, is_over: bool) -> Fate:
        if ids[-1] == self.eos:
            return "ended" if rank < self.config.beam_size else "ended below the beam"
        if not survives:
            return "below the beam"
        return "over" if is_over else "lives on"

    def _ending(self, seen: Sequence[Candidate]) -> Ending | None:
        """Ask the search why it is over; None if every prefix has ended."""
        best = next((c.log_probability for c in seen if c.fate == "over"), None)
        if best is None:
            return None
        before = (candidate for step in self.steps for candidate in step.candidates)
        ended = [c.score for c in (*before, *seen) if c.fate == "ended"]
        scores = sorted(ended, reverse=True)
        return why_over(scores, best, len(seen[0].ids), self.limit, self.config)
