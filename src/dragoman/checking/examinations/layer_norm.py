"""Examinations of layer normalisation (section 3.1; Ba et al. 2016)."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same

FORMULA = Check(
    name="norm-formula",
    finding="It does not give each vector mean 0 and variance 1.",
    why="What the layers above get drifts in size, and deep stacks stop learning.",
    section="3.1",
)
DEVIATION = Check(
    name="norm-deviation",
    finding="It divides by a different deviation from that of torch.nn.LayerNorm.",
    why="It works, but weights trained with it do not fit a model with the usual form.",
    section="3.1",
    kind="note",
)
EPSILON = Check(
    name="norm-epsilon",
    finding="Its epsilon is not added to the variance, inside the square root.",
    why="Inside, 1e-6 keeps the divisor above 0.001; outside it lets noise in nearly equal numbers "
    "grow a thousand times more, and without any, equal numbers become NaN.",
    section="3.1",
    kind="note",
)
PER_FEATURE = Check(
    name="norm-gain-per-feature",
    finding="It has one gain or one bias for all features, not one for each.",
    why="It works, and can express less; it has 2 parameters where the paper's has 2 d_model.",
    section="3.1",
    kind="note",
)
NO_MEAN = Check(
    name="norm-without-mean",
    finding="It does not subtract the mean: this is RMSNorm.",
    why="It works in newer models; it is not the layer norm of the paper.",
    section="3.1",
    kind="note",
)
START = Check(
    name="norm-start",
    finding="At the start its gain is not 1 or its bias not 0.",
    why="Every sublayer begins with a shift that training has to undo.",
    section="3.1",
)
LEARNS = Check(
    name="norm-learns",
    finding="It has no gain and bias to learn.",
    why="Every normalised vector has variance 1; gain and bias let training choose another.",
    section="3.1",
    kind="note",
)

MOST_OFF_AT_1 = 0.1
"""How far from 1 the divisor of a vector with a deviation of 1 may be, in a norm."""

TINY_DEVIATION, LEAST_DIVISOR = 1e-12, 1e-11
"""A divisor that is not larger shows that there is no epsilon."""

LEAST_OUTSIDE_ROOT = 1.7
"""sqrt(e^2 + e^2) is 1.41 e where epsilon e^2 stands inside the root, and e + e outside of it."""


def _wrong(x: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Iterate over known mistakes."""
    for dim, what in ((1, "positions of the sentence"), (0, "sentences of the batch")):
        centred = x - x.mean(dim, keepdim=True)
        for spread, unbiased in (("variance", False), ("deviation", True)):
            normed = centred / x.std(dim, unbiased=unbiased, keepdim=True)
            yield f"mean and {spread} go over the {what}", normed
    yield "mean and variance go over all numbers at once", (x - x.mean()) / x.std(unbiased=False)
    yield "mean and deviation go over all numbers at once", (x - x.mean()) / x.std()
    centred = x - x.mean(-1, keepdim=True)
    yield "it only subtracts the mean", centred
    for variance, unbiased in (("variance", False), ("unbiased variance", True)):
        deviation = x.std(-1, unbiased=unbiased, keepdim=True)
        yield f"it divides by the {variance}, not by its root", centred / deviation.square()
        yield "it divides by the deviation without subtracting the mean", x / deviation


def formula(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare with torch.nn.LayerNorm and with known variants."""
    module = workshop.build(part)
    x = 3 * random(3, 5, SIZES.d_model) + 1
    with torch.no_grad():
        output = call(module, {}, {"states": x})
        shift = output.mean().item()
        constant = call(module, {}, {"states": torch.full_like(x, 2.0)}).mean().item()
    if same(output, output[:1, :1].expand_as(output)):
        yield START, "at the start its output is the same for any input: the gain is 0"
        return
    right = nn.functional.layer_norm(x, [SIZES.d_model])
    bias = constant if abs(shift - constant) < 1e-2 else 0.0  # noqa: PLR2004
    yield START, None if abs(bias) < 1e-4 else f"at the start the mean of its output is {bias:.3g}"  # noqa: PLR2004
    yield from _compare(x, output - bias, right)


def _compare(x: Tensor, output: Tensor, right: Tensor) -> Iterator[Verdict]:
    if same(output, right, 1e-3):
        yield FORMULA, None
        yield DEVIATION, None
        return
    apart = distance(output, right)
    if same(output, (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True), 1e-3):
        yield FORMULA, None
        said = "it divides by the unbiased deviation (d_model - 1)"
        yield DEVIATION, f"{said}; the output differs by up to {apart:.2g}"
        return
    if same(output, x / x.square().mean(-1, keepdim=True).sqrt(), 1e-3):
        yield NO_MEAN, f"the output differs from layer norm's by up to {apart:.2g}"
        return
    for said, wrong in _wrong(x):
        if same(output, wrong, 1e-3):
            yield FORMULA, f"{said}; the output differs by up to {apart:.2g}"
            return
    mean, deviation = output.mean(-1), output.std(-1, unbiased=False)
    yield (
        FORMULA,
        f"means are {mean.min():.2g} ... {mean.max():.2g} and deviations {deviation.min():.2g} "
        f"... {deviation.max():.2g}; the output differs by up to {apart:.2g}",
    )


def epsilon(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Find epsilon from a vector of almost no deviation; then give one of that deviation."""
    module = workshop.build(part)
    direction = nn.functional.layer_norm(random(2, 3, SIZES.d_model), [SIZES.d_model], eps=0.0)

    def divisor(deviation: float) -> float:
        with torch.no_grad():
            output = call(module, {}, {"states": deviation * direction})
        return (deviation / (output * direction).mean()).item()

    if not abs(divisor(1.0) - 1.0) <= MOST_OFF_AT_1:  # or it is not a number
        return  # not a norm, which another examination reports
    least = divisor(TINY_DEVIATION)
    if not least > LEAST_DIVISOR:
        yield (
            EPSILON,
            f"a vector with a deviation of 1e-12 is divided by {least:.2g}: there is none",
        )
        return
    most = divisor(least)
    inside = math.sqrt(least * least + least)
    measured = (
        f"a vector with a deviation of {least:.2g} is divided by {most:.2g}: epsilon is added"
    )
    outside = f"{measured} to it; under the root it would be divided by {inside:.2g}"
    yield EPSILON, outside if most > LEAST_OUTSIDE_ROOT * least else None


def parameters(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Count what it learns."""
    module = workshop.build(part)
    counts = [parameter.numel() for parameter in module.parameters()]
    count = sum(counts)
    yield LEARNS, None if count else "it has no parameters"
    wrong = f"it has {count} parameters, and {2 * SIZES.d_model} are expected"
    yield PER_FEATURE, wrong if 1 in counts else None


EXAMINATIONS = (formula, epsilon, parameters)
