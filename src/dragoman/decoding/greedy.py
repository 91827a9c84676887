"""Greedy search: always the most probable next token."""

from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.single_path import follow_single_paths


def greedy_search(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Find one translation for each sentence."""

    def most_probable(logits: Tensor, sentences: Tensor, position: int) -> tuple[Tensor, Tensor]:
        best, tokens = problem.most_probable(logits, 1)
        return best[..., 0], tokens[..., 0]

    return follow_single_paths(problem, config, num_paths=1, choose=most_probable)
