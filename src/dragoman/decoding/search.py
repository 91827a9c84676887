"""The kind of search that a configuration asks for."""

from collections.abc import Sequence

from dragoman.decoding.beam import beam_search
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.constrained import constrained_beam_search
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.sampling import sample


def search(
    problem: SearchProblem[State],
    config: SearchConfig,
    required: Sequence[Sequence[Phrase]] | None = None,
) -> list[list[Hypothesis]]:
    """Find `n_best` translations of each sentence, or fewer if there are not that many.

    A beam of one is greedy search: it stops at the first end that it meets, where a beam search
    would still check whether something longer scores better. Required phrases need a beam search of
    their own, whatever the beam.
    """
    if required is not None:
        return constrained_beam_search(problem, config, required)
    if config.samples:
        return sample(problem, config)
    if config.beam_size == 1:
        return greedy_search(problem, config)
    return beam_search(problem, config)
