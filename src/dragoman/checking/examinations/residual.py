"""Examinations of residual connections (sections 3.1 and 5.4)."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import RESIDUAL, NotCheckableError
from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.convention import REFUSED
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same

INPUT = Check(
    name="residual-input",
    finding="What is added to the sublayer's output is not x.",
    why="The input has to pass through unchanged; otherwise gradients vanish in deep stacks.",
    section="3.1",
)
NORM = Check(
    name="residual-norm",
    finding="Nothing is normalised.",
    why="Each sublayer adds to the vector, which grows from layer to layer.",
    section="3.1",
)
FIRST = Check(
    name="residual-norm-first",
    finding="The norm stands before the sublayer, where the paper has it after the sum.",
    why="It trains more stably and is what most large models do since GPT-2; it is not the paper's "
    "Add & Norm, and each stack then needs one more norm at its end.",
    section="3.1",
    kind="note",
)
INSIDE = Check(
    name="residual-norm-inside",
    finding="The norm stands on the sublayer's output, before the sum.",
    why="It works; neither the paper nor its usual variant has it there.",
    section="3.1",
    kind="note",
)


def sublayer(x: Tensor) -> Tensor:
    """Stand in for attention or feed-forward; its output has neither mean 0 nor variance 1."""
    return torch.sin(3 * x) + 0.5


def connect(module: Any, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    """Call a residual connection with a sublayer or, if it wants that, with its output."""
    try:
        return call(module, RESIDUAL, {"states": x, "sublayer": sublayer})
    except (TypeError, AttributeError):
        with suppress(*REFUSED):
            return call(module, RESIDUAL, {"states": x, "sublayer": sublayer(x)})
        raise


def arrangement(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare with every way to arrange sum and norm."""
    module = workshop.build(part)
    norms = [x for x in module.modules() if "norm" in type(x).__name__.lower() and x is not module]
    x = 2 * random(2, 5, SIZES.d_model) + 0.3
    with torch.no_grad():
        norm: Any = norms[0] if norms else nn.Identity()
        output = connect(module, x, sublayer)
        plain, first = x + sublayer(x), x + sublayer(norm(x))
        after, inside = norm(plain), x + norm(sublayer(x))
        wrong = {
            "the sublayer's output alone is returned": sublayer(norm(x)),
            "the sublayer's output alone is normalised and returned": norm(sublayer(x)),
            "the normalised x is added, not x": norm(x) + sublayer(norm(x)),
        }
    if not norms:
        without = "x + sublayer(x) is returned, and there is no norm in it"
        yield NORM, without if same(output, plain) else "there is no norm in it"
    elif same(output, first) or same(output, after):
        yield INPUT, None
        yield FIRST, "x + sublayer(norm(x)) is returned" if same(output, first) else None
    elif same(output, inside):
        yield INSIDE, "x + norm(sublayer(x)) is returned"
    elif same(output, plain):
        yield NORM, "x + sublayer(x) is returned; its norm is not used"
    elif said := next((said for said, form in wrong.items() if same(output, form)), None):
        apart = distance(output, first)
        yield INPUT, f"{said}: it differs from x + sublayer(norm(x)) by up to {apart:.2g}"
    else:
        known = "norm(x + sublayer(x)) nor x + sublayer(norm(x)) nor a known variant"
        yield INPUT, f"it is neither {known}"


EXAMINATIONS = (arrangement,)


def pattern(width: int) -> Tensor:
    """Make a vector that a norm changes."""
    return 0.3 * (torch.arange(width) % 3)


def silence(module: nn.Module) -> list[nn.Parameter]:
    """Set all matrices to zero, also those that no `nn.Linear` holds.

    Returns:
        The biases: the vectors beside a matrix. A norm has a vector and no matrix.
    """
    biases = []
    for layer in module.modules():
        own = [*layer.parameters(recurse=False)]
        matrices = [each for each in own if sum(size > 1 for size in each.shape) > 1]
        for matrix in matrices:
            nn.init.zeros_(matrix)
        biases += [each for each in own if matrices and each.dim() == 1]
    return biases


def in_block(
    biases: list[nn.Parameter], x: Tensor, output: Tensor, num_sublayers: int
) -> Iterator[Verdict]:
    """Say how a block whose sublayers give a constant arranges sums and norms.

    All matrices are zero and all biases the `pattern`, so that each sublayer gives the pattern or,
    without a bias, nothing.
    """
    constant = pattern(x.size(-1))
    every = (1 << num_sublayers) - 1
    last = 1 << (num_sublayers - 1)  # feed-forward, which is usually the one that has a bias
    ways = (None, 0, *range(1, every + 1, 2))  # a norm after the first sum may be meant for it
    has_biases = any(len(bias) == x.size(-1) for bias in biases)
    for biased in range(every, last - 1 if has_biases else -1, -1):
        added = [constant * bool(biased >> k & 1) for k in range(num_sublayers)]
        for carried in range(every, -1, -1):
            for renewed in ways:
                if any(same(output, y, 1e-3) for y in _arrange(x, added, carried, renewed)):
                    first = "the norms stand before the sublayers" if renewed == 0 else None
                    yield INPUT, _said(carried, renewed, num_sublayers)
                    yield FIRST, first
                    return
    raise NotCheckableError("its residual connections: their arrangement was not recognised")


def _said(carried: int, renewed: int | None, num_sublayers: int) -> str | None:
    if renewed:
        return "x is replaced by its norm before the sublayer, and the norm is added, not x"
    if carried < (1 << num_sublayers) - 1:
        return f"of {num_sublayers} sublayers, one or more do not get their input added"
    return None


def _arrange(x: Tensor, added: list[Tensor], carried: int, renewed: int | None) -> Iterator[Tensor]:
    """Compute a block's output, with either kind of deviation in its norm.

    Args:
        x: What goes in.
        added: What each sublayer gives.
        carried: A bit for each sublayer whose input is added.
        renewed: A bit for each whose input is replaced by its norm; None if norms follow the sums.
    """
    for unbiased in (False, True):

        def norm(y: Tensor, unbiased: bool = unbiased) -> Tensor:
            centred = y - y.mean(-1, keepdim=True)
            return centred / (y.var(-1, unbiased=unbiased, keepdim=True) + 1e-6).sqrt()

        y = x
        for k, constant in enumerate(added):
            if (renewed or 0) >> k & 1:
                y = norm(y)
            y = constant + (y if carried >> k & 1 else torch.zeros_like(y))
            if renewed is None:
                y = norm(y)
        yield y
