"""Examinations of the projection to the vocabulary (section 3.4)."""

from collections.abc import Iterator

import torch
from torch import Tensor

from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, random, same

VOCABULARY = Check(
    name="projection-vocabulary",
    finding="It does not give one number for each entry of the vocabulary.",
    why="The loss compares with ids that have no logit, or with the wrong ones.",
    section="3.4",
)
PROBABILITIES = Check(
    name="projection-probabilities",
    finding="It gives probabilities.",
    why="The cross-entropy of PyTorch takes the softmax itself; twice, gradients are tiny.",
    section="3.4",
)
LOG_SOFTMAX = Check(
    name="projection-log-softmax",
    finding="It gives log-probabilities.",
    why="It works: cross-entropy takes the log-softmax again, which changes nothing.",
    section="3.4",
    kind="note",
)
DIMENSION = Check(
    name="projection-softmax-dimension",
    finding="Its softmax is not over the vocabulary.",
    why="The words of one position have to share the probability, not the positions of one word.",
    section="3.4",
)


def what_comes_out(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Check shape and sums."""
    module = workshop.build(part)
    with torch.no_grad():
        output = call(module, {}, {"states": random(2, 5, SIZES.d_model)})
    expected = (2, 5, SIZES.target_vocab)
    if output.shape != expected:
        yield VOCABULARY, f"the shape is {tuple(output.shape)}, and {expected} is expected"
        return
    yield VOCABULARY, None
    if other := other_dimension(output):
        yield DIMENSION, other
        return
    yield DIMENSION, None
    yield PROBABILITIES, "the numbers of a position sum to one" if sum_to_one(output) else None
    yield LOG_SOFTMAX, "their exponentials sum to one" if sum_to_one(output.exp()) else None


def other_dimension(output: Tensor) -> str | None:
    """Say that a softmax went over sentences or positions; (batch, length, vocabulary)."""
    for dim in (0, 1):
        for kind, values in (("probabilities", output), ("log-probabilities", output.exp())):
            if sum_to_one(values, dim):
                return f"the {kind} sum to one over dimension {dim}, not over the last"
    return None


def sum_to_one(values: Tensor, dim: int = -1) -> bool:
    """Tell whether values are probabilities along a dimension."""
    sums = values.sum(dim)
    return bool((values >= 0).all()) and same(sums, torch.ones_like(sums))


EXAMINATIONS = (what_comes_out,)
