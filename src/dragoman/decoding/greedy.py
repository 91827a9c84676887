"""Greedy search: always the most probable next token."""

from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.single_path import follow_single_paths
from dragoman.decoding.top_tokens import top_tokens


def greedy_search(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Find one translation of each sentence."""

    def most_probable(log_probabilities: Tensor, sentences: Tensor, position: int) -> Tensor:
        return top_tokens(log_probabilities, 1)[1][..., 0]

    return follow_single_paths(problem, config, num_paths=1, choose=most_probable)
