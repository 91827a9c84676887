"""Greedy search: always the most probable next token."""

from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.single_path import follow_single_path


def greedy_search(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Find one translation of each sentence; of equally probable tokens the lowest id is taken."""

    def most_probable(log_probabilities: Tensor, rows: Tensor, position: int) -> Tensor:
        return log_probabilities.argmax(dim=1)

    return [[found] for found in follow_single_path(problem, config, most_probable)]
