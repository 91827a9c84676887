"""Examinations of what attention does with masks (section 3.2.3)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import ATTENTION, NotCheckableError, parameters_of, role_of
from dragoman.checking.calls import attention_convention, takes
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.convention import REFUSED, conventions
from dragoman.checking.examinations.attention_forms import (
    RIGHT,
    WRONG,
    Form,
    Inputs,
    all_visible,
    call_attention,
    compute,
    explain,
    inputs_for,
    read_matrices,
)
from dragoman.checking.examinations.check import Check, Verdict, random, same
from dragoman.checking.program import asks_for_gpu, message_of

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
    finding="The output of a position that may look at nothing is NaN.",
    why="One sentence of nothing but padding makes every gradient of its batch NaN.",
    section="3.2.3",
    kind="note",
)
_PLACES = {
    "before the softmax": None,
    "nowhere": "it is not applied",
    "after the softmax": "it is applied after the softmax: hidden keys still take their share",
    "with scores of 0": "hidden scores become about 0, and exp(0) is 1: hidden keys are looked at",
}


def mask(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Hide the last key, and see whether it still has influence."""
    module = workshop.build(part)
    if "mask" not in takes(module, ATTENTION):
        unknown = [
            name
            for name, parameter in parameters_of(module.forward).items()
            if parameter.default is None and role_of(name, ATTENTION) is None
        ]
        why = f"whether `{unknown[0]}` is one is not known" if unknown else "it takes none"
        raise NotCheckableError(f"what it does with masks: {why}")
    inputs = inputs_for(module)
    x = random(2, 6, SIZES.d_model, seed=2)
    if attention_convention(module, x) is not None:
        yield MASK, None
        return
    form = explain(module, inputs) or RIGHT
    if form["softmax"] != RIGHT["softmax"]:
        over = form["softmax"]
        raise NotCheckableError(f"its mask: a softmax over the {over} hides none of the keys")
    yield MASK, _how_masked(module, form, inputs)


def _without_last_key(inputs: Inputs) -> Tensor:
    """Make a mask that hides the last key from all queries."""
    visible = all_visible(inputs)
    visible[:, :, -1] = False
    return visible


def _how_masked(module: nn.Module, form: Form, inputs: Inputs) -> str | None:
    """Say what a mask that does not hide does to an attention that is of a form without it.

    Returns:
        None if it does what it should, and other mistakes are to blame.
    """
    visible = _without_last_key(inputs)
    inputs = replace(inputs, visible=visible)
    unmasked = call_attention(module, inputs)
    accepted = False
    for convention in conventions():
        try:
            output = call_attention(module, inputs, convention.mask(visible))
        except REFUSED as error:
            refusal = error
            continue
        accepted = True
        if same(output, unmasked):
            return "with a mask and without one the output is the same: the mask has no effect"
        for matrices in read_matrices(module):
            for place in (RIGHT["mask"], *WRONG["mask"]):
                changed = {**form, "mask": place}
                if same(compute(changed, matrices, inputs), output):
                    expected = partial(compute, changed, matrices)
                    told = partial(call_attention, module, mask=convention.mask(visible))
                    return _PLACES[place] or _look_for_leak(told, expected, inputs)
    if not accepted:
        return _refused(refusal)
    return "no kind of mask (0 and 1, bool, additive; either meaning) hides a key and only that key"


def _refused(error: Exception) -> str:
    """Say that all masks are refused, or pass on an error that is not theirs."""
    if asks_for_gpu(error):
        raise error
    return f"no kind of mask is accepted; the last error: {message_of(error)}"


def _look_for_leak(
    told: Callable[[Inputs], Tensor], expected: Callable[[Inputs], Tensor], inputs: Inputs
) -> str | None:
    """Say so if what is hidden has a weight that is too small to be seen beside the others.

    Args:
        told: The attention, told that the last key is hidden.
        expected: What it should compute, whatever else is wrong with it.
        inputs: With the last key hidden.
    """
    key, value = inputs.key.clone(), inputs.value.clone()
    for changed in (key, value):
        changed[:, -1] += torch.linspace(-3, 3, changed.size(-1))
    other = replace(inputs, key=key, value=value)
    looks, may_look = (
        not torch.allclose(attend(inputs), attend(other), rtol=0.0, atol=1e-6)
        for attend in (told, expected)
    )
    if may_look or not looks:
        return None
    return "hidden scores are not low enough, as with -10: hidden keys keep a little weight"


def half_precision(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Mask in float16, as mixed precision does; even if the mask has no effect."""
    module = workshop.build(part)
    inputs = inputs_for(module)
    told = workshop.accepted_convention.mask(_without_last_key(inputs))
    half = Inputs(query=inputs.query.half(), key=inputs.key.half(), value=inputs.value.half())
    if told.is_floating_point():
        told = told.half()
    try:
        call_attention(module.half(), half, told)
    except RuntimeError as error:
        first = message_of(error)
        if "overflow" not in first:
            raise NotCheckableError(f"half precision: {first}") from None
        yield HALF_PRECISION, f"it raises: {first}"
        return
    yield HALF_PRECISION, None


def hidden_row(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Let one position look at nothing, unless it takes no masks, which is told already."""
    module = workshop.build(part)
    if "mask" not in takes(module, ATTENTION):
        return
    inputs = inputs_for(module)
    visible = all_visible(inputs)
    visible[1, 0] = False
    output = call_attention(module, inputs, workshop.convention.mask(visible))
    finite = bool(output.isfinite().all())
    yield HIDDEN_ROW, None if finite else "a row of the mask hides all; its output is NaN"


EXAMINATIONS = (mask, half_precision, hidden_row)
