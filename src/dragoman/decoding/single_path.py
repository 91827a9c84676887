"""Decoding that follows one path: each token is final once it is chosen."""

from collections.abc import Callable

import torch
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import SearchProblem, State

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""(log-probabilities of shape (rows, vocab), the problem's row of each, position) -> tokens."""


def follow_single_path(
    problem: SearchProblem[State], config: SearchConfig, choose: Choose
) -> list[Hypothesis]:
    """Extend each row by the token that `choose` takes, until its end or its length limit.

    A row leaves the batch as soon as it is complete.
    """
    complete: dict[int, Hypothesis] = {}
    limits = torch.tensor(
        [config.max_length(len(s)) for s in problem.sources], device=problem.device
    )
    rows = torch.arange(len(problem.sources), device=problem.device)
    tokens = rows.new_full((len(rows), 1), problem.bos)
    scores = torch.empty(len(rows), 0, device=problem.device)
    state = problem.state
    while len(rows):
        logits, state = problem.step(tokens[:, -1], state)
        log_probabilities = problem.log_probabilities(logits)
        chosen = choose(log_probabilities, rows, tokens.size(1) - 1)[:, None]
        scores = torch.cat([scores, log_probabilities.gather(1, chosen)], dim=1)
        tokens = torch.cat([tokens, chosen], dim=1)
        stops = (chosen[:, 0] == problem.eos) | (limits[rows] <= scores.size(1))
        if stops.any():
            stopped = zip(*(t[stops].tolist() for t in (rows, tokens[:, 1:], scores)), strict=True)
            for row, ids, token_scores in stopped:
                complete[row] = build_hypothesis(ids, token_scores, eos=problem.eos, config=config)
            kept = (~stops).nonzero()[:, 0]
            rows, tokens, scores = rows[kept], tokens[kept], scores[kept]
            state = state.select(kept)
    return [complete[row] for row in range(len(problem.sources))]
