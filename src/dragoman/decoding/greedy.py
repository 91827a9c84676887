"""Greedy search, and what it shares with sampling: each token is final once it is chosen."""

from collections.abc import Callable

import torch
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.problem import SearchProblem, State

Choose = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]
"""(logits of shape (sentences, paths, vocab), which sentence of the problem each belongs to,
position) -> log-probabilities and tokens, both of shape (sentences, paths)."""


def greedy_search(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Find one translation for each sentence, by the most probable token each time."""

    def most_probable(logits: Tensor, sentences: Tensor, position: int) -> tuple[Tensor, Tensor]:
        best, tokens = problem.most_probable(logits, 1)
        return best[..., 0], tokens[..., 0]

    return follow_single_paths(problem, config, num_paths=1, choose=most_probable)


def follow_single_paths(
    problem: SearchProblem[State], config: SearchConfig, *, num_paths: int, choose: Choose
) -> list[list[Hypothesis]]:
    """Extend each path by the token that `choose` takes, until its end or its length limit."""
    found: list[list[Hypothesis]] = [[] for _ in problem.sources]
    beginning = problem.begin(num_paths)
    limits = torch.tensor(problem.limits(config), device=problem.device)
    sentences = torch.arange(len(problem.sources), device=problem.device)
    tokens, values, state = beginning.tokens, beginning.token_log_probabilities, beginning.state
    ended = torch.zeros(len(sentences), num_paths, dtype=torch.bool, device=problem.device)
    logits, state = problem.step(tokens[..., -1], state)
    while len(sentences):
        of_chosen, chosen = choose(logits, sentences, values.size(2))
        values = torch.cat([values, of_chosen[..., None]], dim=2)
        tokens = torch.cat([tokens, chosen[..., None]], dim=2)
        ended |= (chosen == problem.eos) | (limits <= values.size(2))[:, None]
        going, logits, state = problem.advance(tokens[..., -1], state, ~ended.all(dim=1))
        if going is not None:  # some sentences, all of them complete, leave the batch
            kept, left = (places.nonzero()[:, 0].to(problem.device) for places in (going, ~going))
            for sentence, limit, ids_of_paths, values_of_paths in zip(
                sentences[left].tolist(),
                limits[left].tolist(),
                tokens[left].tolist(),
                values[left].tolist(),
                strict=True,
            ):
                found[sentence] = [
                    _read(ids[1:], of_ids, limit, problem.eos, config)
                    for ids, of_ids in zip(ids_of_paths, values_of_paths, strict=True)
                ]
            sentences, limits, tokens = sentences[kept], limits[kept], tokens[kept]
            values, ended = values[kept], ended[kept]
    return found


def _read(
    ids: list[int], values: list[float], limit: int, eos: int, config: SearchConfig
) -> Hypothesis:
    """Cut off what was decoded after the end, while other paths went on."""
    length = min(ids.index(eos) + 1 if eos in ids else len(ids), limit)
    return build_hypothesis(ids[:length], values[:length], eos=eos, config=config)
