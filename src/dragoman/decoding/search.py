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

    Raises:
        ValueError: tokens are to be drawn, and phrases are required of what is drawn.
    """
    if required is not None:
        if config.samples:
            raise ValueError("phrases can be required of a beam search, not of samples")
        return constrained_beam_search(problem, config, required)
    if config.samples:
        return sample(problem, config)
    if config.beam_size == 1:
        return greedy_search(problem, config)
    return beam_search(problem, config)
