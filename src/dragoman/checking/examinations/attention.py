"""Examinations of multi-head attention (section 3.2)."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import attention_convention
from dragoman.checking.convention import conventions
from dragoman.checking.examinations.attention_forms import (
    RIGHT,
    WRONG,
    Inputs,
    call_attention,
    comparable_inputs,
    compute,
    explain,
    read_matrices,
)
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same
from dragoman.checking.workshop import SIZES, Workshop

SCALE = Check(
    name="attention-scale",
    finding="The scores are not divided by sqrt(d_k).",
    why="The variance of a score grows with d_k; the softmax saturates, or stays flat.",
    section="3.2.1",
)
SOFTMAX = Check(
    name="attention-softmax",
    finding="The softmax is not taken over the keys.",
    why="The weights with which a position looks at others do not sum to one.",
    section="3.2.1",
)
TRANSPOSE = Check(
    name="attention-transpose",
    finding="The keys are reshaped where they should be transposed.",
    why="Queries are multiplied with pieces of several keys.",
    section="3.2.1",
)
HEADS = Check(
    name="attention-heads",
    finding="The vectors are not cut into heads by features.",
    why="A view without a transpose mixes positions: a word gets parts of its neighbours.",
    section="3.2.2",
)
PROJECTIONS = Check(
    name="attention-projections",
    finding="Queries, keys and values are not each projected by a matrix of their own.",
    why="Matrices that are not used do not learn, and a position can only look for its like.",
    section="3.2.2",
)
OUTPUT = Check(
    name="attention-output",
    finding="The heads are not mixed by W^O.",
    why="What the heads found is never put together.",
    section="3.2.2",
)
FORMULA = Check(
    name="attention-formula",
    finding="It computes neither equation 1 nor a known mistake.",
    why="Whatever it is, it is not the attention of the paper.",
    section="3.2.1",
)
MASK = Check(
    name="attention-mask",
    finding="The mask does not hide what it should.",
    why="Padding is read, and a decoder sees the words that it is to predict.",
    section="3.2.3",
)
HALF_PRECISION = Check(
    name="attention-half-precision",
    finding="Hidden scores do not fit into half precision.",
    why="-1e9 overflows float16; torch.finfo(scores.dtype).min or -inf does not.",
    section="3.2.3",
    kind="note",
)
HIDDEN_ROW = Check(
    name="attention-hidden-row",
    finding="A position that may look at nothing gets what is not a number.",
    why="One sentence of nothing but padding makes every gradient of its batch NaN.",
    section="3.2.3",
    kind="note",
)
MAP = Check(
    name="attention-map",
    finding="The attention weights that are kept for display are those after dropout.",
    why="In training their rows do not sum to one, and pictures show holes that are not there.",
    section="3.2.1",
    kind="note",
)

_CHECK_OF = {
    "scale": SCALE,
    "softmax": SOFTMAX,
    "transpose": TRANSPOSE,
    "split": HEADS,
    "merge": HEADS,
    "heads": HEADS,
    "queries": PROJECTIONS,
    "keys": PROJECTIONS,
    "values": PROJECTIONS,
    "output": OUTPUT,
}
_SAID = {
    "scale": "the scores are divided by {}",
    "softmax": "the softmax is over the {}",
    "transpose": "the keys are {}",
    "split": "heads are cut {}",
    "merge": "heads are put together {}",
    "heads": "there is only {} head",
    "queries": "queries are made with {}",
    "keys": "keys are made with {}",
    "values": "values are made with {}",
    "output": "the output is made with {}",
}
_PLACES = {
    "before the softmax": None,
    "nowhere": "it is not applied",
    "after the softmax": "it is applied after the softmax: hidden keys still take their share",
    "with scores of 0": "hidden scores become about 0, and exp(0) is 1: hidden keys are looked at",
}
ROUNDING = 1e-3
"""How far the sum of a row of weights may be from one."""


def _inputs(module: nn.Module) -> Inputs:
    query, key, value = (random(2, n, SIZES.d_model, seed=n, scale=3.0) for n in (5, 7, 7))
    return comparable_inputs(module, Inputs(query=query, key=key, value=value + key.flip(1)))


def equation(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare with equation 1 and with its known mistakes, with the learner's own weights."""
    module = workshop.build(part)
    inputs = _inputs(module)
    with torch.no_grad():
        matrices = next(read_matrices(module, SIZES.heads), None)
        if matrices is None:
            raise NotCheckableError(
                "equation 1 (its projections are not four nn.Linear of width d_model, "
                "nor two of which one is three times as wide)"
            )
        form = explain(module, inputs, SIZES.heads)
        right = compute(RIGHT, matrices, inputs, SIZES.heads)
    apart = distance(call_attention(module, inputs), right)
    if form is None:
        yield FORMULA, f"the output differs from equation 1 by up to {apart:.2g}"
        return
    yield FORMULA, None
    for check in dict.fromkeys(_CHECK_OF.values()):
        said = [
            _SAID[piece].format(form[piece])
            for piece, own in _CHECK_OF.items()
            if own is check and form[piece] != RIGHT[piece]
        ]
        measured = f"{', '.join(said)}: that gives its output to rounding, and equation 1 gives one"
        yield check, f"{measured} that differs by up to {apart:.2g}" if said else None


def mask(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Hide the last key, and see whether it still has influence."""
    module = workshop.build(part)
    inputs = _inputs(module)
    x = random(2, 6, SIZES.d_model, seed=2)
    if attention_convention(module, x) is not None:
        yield MASK, None
        return
    visible = torch.ones(2, inputs.query.size(1), inputs.key.size(1), dtype=torch.bool)
    visible[:, :, -1] = False
    hidden = replace(inputs, visible=visible)
    yield MASK, _how_masked(module, hidden)


def _how_masked(module: nn.Module, inputs: Inputs) -> str | None:
    """Say what a mask does that does not hide; None if other mistakes are to blame."""
    assert inputs.visible is not None
    form = explain(module, replace(inputs, visible=None), SIZES.heads) or RIGHT
    unmasked = call_attention(module, inputs)
    accepted = False
    for convention in conventions():
        try:
            output = call_attention(module, inputs, convention.mask(inputs.visible))
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            refusal = str(error).split("\n")[0]
            continue
        accepted = True
        if same(output, unmasked):
            return "with a mask and without one the output is the same: the mask has no effect"
        for matrices in read_matrices(module, SIZES.heads):
            for place in (RIGHT["mask"], *WRONG["mask"]):
                changed = {**form, "mask": place}
                if same(compute(changed, matrices, inputs, SIZES.heads), output):
                    return _PLACES[place]
    if not accepted:
        return f"no kind of mask is accepted; the last error: {refusal}"
    return "no kind of mask (0 and 1, bool, additive; either meaning) hides a key and only that key"


def half_precision(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Mask in float16, as mixed precision does."""
    module = workshop.build(part)
    inputs = _inputs(module)
    visible = torch.ones(2, inputs.query.size(1), inputs.key.size(1), dtype=torch.bool)
    visible[:, :, -1] = False
    told = workshop.convention.mask(visible)
    call_attention(module, inputs, told)  # an error of any other kind comes through here
    half = Inputs(query=inputs.query.half(), key=inputs.key.half(), value=inputs.value.half())
    if told.is_floating_point():
        told = told.half()
    try:
        call_attention(module.half(), half, told)
    except RuntimeError as error:
        yield HALF_PRECISION, f"it raises: {str(error).split(chr(10))[0]}"
        return
    yield HALF_PRECISION, None


def hidden_row(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Let one position look at nothing."""
    module = workshop.build(part)
    inputs = _inputs(module)
    visible = torch.ones(2, inputs.query.size(1), inputs.key.size(1), dtype=torch.bool)
    visible[1, 0] = False
    output = call_attention(module, inputs, workshop.convention.mask(visible))
    finite = bool(output.isfinite().all())
    yield HIDDEN_ROW, None if finite else "a row of the mask hides all; its output is NaN"


def kept_map(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Look at what the module keeps of its weights, in training."""
    module = workshop.build(part, dropout=0.5).train()
    inputs = _inputs(module)
    call_attention(module, inputs)
    shape = (2, SIZES.heads, inputs.query.size(1), inputs.key.size(1))
    for name, value in vars(module).items():
        if isinstance(value, Tensor) and value.shape == shape:
            sums = value.sum(dim=-1)
            apart = distance(sums, torch.ones_like(sums))
            wrong = f"the rows of `{name}` sum to {sums.min():.2f} ... {sums.max():.2f} in training"
            yield MAP, wrong if apart > ROUNDING else None


EXAMINATIONS = (equation, mask, half_precision, hidden_row, kept_map)
