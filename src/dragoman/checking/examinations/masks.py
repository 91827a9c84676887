"""Examinations of the function that makes the decoder's mask (section 3.2.3)."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import attend, call, takes
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, random, same, tokens

CAUSAL = Check(
    name="causal-mask",
    finding="The mask hides something other than the future, or not all of the future.",
    why="The decoder learns to copy what it should predict, or cannot see what it has written.",
    section="3.2.3",
)
LENGTH = 5
_DEVICE = {"device": ("device",)}
"""What such a function is often told beside the length."""

HIDDEN_BELOW = -1e3
"""What is added to a score to hide it is below this."""


def future_mask(function: Callable[..., Any], length: int) -> Tensor:
    """Call a learner's function with a length or, if it wants them, with tokens."""
    told = {"device": torch.device("cpu")} if "device" in takes(function, _DEVICE) else {}
    try:
        return call(function, _DEVICE, {**told, "length": length})
    except (TypeError, AttributeError):
        words = tokens(1, length, SIZES.target_vocab)
        return call(function, _DEVICE, {**told, "tokens": words})


def hides_the_future(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Use the mask in the learner's own attention or, without one, examine the mask itself."""
    mask = future_mask(workshop.build(part), LENGTH)
    if mask.dim() < 2 or mask.shape[-2:] != (LENGTH, LENGTH):  # noqa: PLR2004
        yield CAUSAL, f"for {LENGTH} words its shape is {tuple(mask.shape)}"
        return
    past = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    try:
        seen = _what_is_seen(workshop, mask)
    except (NotCheckableError, RuntimeError, TypeError):
        table = _table(mask)
        pattern = str(table.int().tolist())
        fits = torch.equal(table, past) or torch.equal(table, ~past)
        yield CAUSAL, None if fits else f"for {LENGTH} words it is {pattern}"
        return
    if torch.equal(seen, past):
        yield CAUSAL, None
        return
    rows = [seen[k].nonzero().flatten().tolist() for k in range(LENGTH)]
    said = "; ".join(f"{k} sees {', '.join(map(str, row)) or 'none'}" for k, row in enumerate(rows))
    yield CAUSAL, f"through MultiHeadAttention, of the positions 0 to {LENGTH - 1}: {said}"


def _table(mask: Tensor) -> Tensor:
    """Take the last two dimensions; an additive mask becomes True where it hides nothing."""
    table = mask.reshape(-1, LENGTH, LENGTH)[0]
    if table.is_floating_point() and bool((table < HIDDEN_BELOW).any()):
        return table > HIDDEN_BELOW
    return table != 0


def _what_is_seen(workshop: Workshop, mask: Tensor) -> Tensor:
    """Find which position depends on which: (position, what it looks at)."""
    module = workshop.build("MultiHeadAttention")
    told = mask.reshape(-1, LENGTH, LENGTH)[:1]
    if mask.dim() == 4 or workshop.convention.dimensions == 4:  # noqa: PLR2004
        told = told[:, None]
    elif workshop.convention.dimensions == 2:  # noqa: PLR2004
        told = told[0]
    x = random(1, LENGTH, SIZES.d_model)
    seen = torch.zeros(LENGTH, LENGTH, dtype=torch.bool)
    with torch.no_grad():
        before = attend(module, x, x, x, told)
        for position in range(LENGTH):
            other = x.clone()
            other[:, position] = random(SIZES.d_model, seed=7)
            after = attend(module, x, other, other, told)
            for query in range(LENGTH):
                seen[query, position] = not same(before[:, query], after[:, query], 1e-6)
    return seen


EXAMINATIONS = (hides_the_future,)
