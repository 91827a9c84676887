"""Examinations of the feed-forward network (section 3.3)."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same

ACTIVATION = Check(
    name="feed-forward-activation",
    finding="There is no ReLU between its two layers.",
    why="Two linear layers without anything between them are one linear layer, however wide.",
    section="3.3",
)
OTHER_ACTIVATION = Check(
    name="feed-forward-other-activation",
    finding="Its activation is not the paper's ReLU.",
    why="It works; later models prefer GELU or SiLU.",
    section="3.3",
    kind="note",
)
POSITIONS = Check(
    name="feed-forward-positions",
    finding="The output at a position depends on other positions.",
    why="The network should be applied to each position separately and identically.",
    section="3.3",
)
WIDTH = Check(
    name="feed-forward-width",
    finding="Its inner layer does not have the width that it was given.",
    why="The width inside, d_ff, is most of what a block can store.",
    section="3.3",
)


def activation(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare with the formula, with the learner's own weights."""
    module = workshop.build(part)
    x = random(2, 5, SIZES.d_model, scale=3.0)
    y = random(2, 5, SIZES.d_model, seed=2, scale=3.0)
    with torch.no_grad():
        output, zero, other, together = (
            call(module, {}, {"states": states}) for states in (x, torch.zeros_like(x), y, x + y)
        )
    # A ReLU without biases keeps f(2x) = 2 f(x), but no sums.
    apart = distance(together - zero, (output - zero) + (other - zero))
    if apart < 1e-4:  # noqa: PLR2004
        yield ACTIVATION, "f(x + y) + f(0) is f(x) + f(y) but for rounding: it is one linear map"
        return
    layers = [child for child in module.modules() if isinstance(child, nn.Linear)]
    if len(layers) != 2:  # noqa: PLR2004
        raise NotCheckableError(f"its formula ({len(layers)} nn.Linear were found in it, not two)")
    first, second = layers
    with torch.no_grad():
        forms = {
            name: second(function(first(x)))
            for name, function in (("relu", F.relu), ("gelu", F.gelu), ("silu", F.silu))
        }
        after = F.relu(second(F.relu(first(x)))), F.relu(second(first(x)))
    if same(output, forms["relu"]):
        yield ACTIVATION, None
        yield OTHER_ACTIVATION, None
    elif any(same(output, wrong) for wrong in after):
        yield ACTIVATION, "the ReLU stands after the second layer: no output is negative"
    elif any("norm" in type(child).__name__.lower() for child in module.modules()):
        raise NotCheckableError(
            "its formula (it has a norm of its own, and is more than two layers)"
        )
    else:
        yield ACTIVATION, None
        named = [name for name, form in forms.items() if same(output, form, 1e-2)]
        yield OTHER_ACTIVATION, f"it is {named[0] if named else 'another function'}"


def positions(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Give one position alone, and measure the layer inside."""
    module = workshop.build(part)
    x = random(2, 5, SIZES.d_model)
    with torch.no_grad():
        together = call(module, {}, {"states": x})
        alone = call(module, {}, {"states": x[:, 2:3]})
    apart = distance(together[:, 2:3], alone)
    wrong = f"a position alone gives another output, {apart:.2g} away"
    yield POSITIONS, None if same(together[:, 2:3], alone) else wrong
    if "d_ff" in workshop.roles(part).values():
        widths = {child.out_features for child in module.modules() if isinstance(child, nn.Linear)}
        told = f"it was told {SIZES.d_ff}, and its layers are {sorted(widths)} wide"
        yield WIDTH, None if not widths or SIZES.d_ff in widths else told


EXAMINATIONS = (activation, positions)
