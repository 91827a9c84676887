"""Examinations of multi-head attention (section 3.2)."""

import re
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import ATTENTION, NotCheckableError
from dragoman.checking.calls import attend, attends_elsewhere, takes
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.attention_forms import (
    RIGHT,
    Form,
    Inputs,
    Matrices,
    all_visible,
    call_attention,
    compute,
    explain,
    inputs_for,
    read_matrices,
    shares_heads,
)
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same
from dragoman.checking.examinations.stacks import FUTURE
from dragoman.checking.words import words_in

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
    why="Matrices that are not used do not learn, and a position can only look for others like it.",
    section="3.2.2",
)
OUTPUT = Check(
    name="attention-output",
    finding="The heads are not mixed by W^O.",
    why="Each head can then write into its own d_k features of the vector only.",
    section="3.2.2",
)
FORMULA = Check(
    name="attention-formula",
    finding="It computes neither equation 1 nor a known mistake.",
    why="Whatever it is, it is not the attention of the paper.",
    section="3.2.1",
)
MAP = Check(
    name="attention-map",
    finding="The attention weights that are kept for display are those after dropout.",
    why="In training their rows do not sum to one, and pictures show holes that are not there.",
    section="3.2.1",
    kind="note",
)

_PIECES = {
    "scale": (SCALE, "the scores are divided by {}"),
    "softmax": (SOFTMAX, "the softmax is over the {}"),
    "transpose": (TRANSPOSE, "the keys are {}"),
    "split": (HEADS, "heads are cut {}"),
    "merge": (HEADS, "heads are put together {}"),
    "heads": (HEADS, "there is only {} head"),
    "queries": (PROJECTIONS, "queries are made with {}"),
    "keys": (PROJECTIONS, "keys are made with {}"),
    "values": (PROJECTIONS, "values are made with {}"),
    "output": (OUTPUT, "the output is made with {}"),
}
"""Which check each piece of a form belongs to, and what is said of a wrong one."""

_OF_POSITIONS = re.compile(
    r"rot|rope|alibi|slope|relative|bias_|_bias|freq|arange|(?<!trans)pos|^(cos|sin)$",
    re.IGNORECASE,
)
"""What occurs in the code of scores that tell positions apart on purpose."""
ROUNDING = 1e-3
"""How far the sum of a row of weights may be from one."""


def equation(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare with equation 1 and with its known mistakes, with the learner's own weights."""
    module = workshop.build(part)
    inputs = inputs_for(module)
    with torch.no_grad():
        matrices = next(read_matrices(module), None)
        if matrices is None:
            raise NotCheckableError(
                "equation 1 (its projections are not four nn.Linear of width d_model, "
                "nor fewer of which one is two or three times as wide, nor three for each head)"
            )
        form, inputs = _explain(module, inputs)
        right = compute(RIGHT, matrices, inputs)
    apart = distance(call_attention(module, inputs), right)
    if form is None:
        _refuse_more_than_attention(module)
        yield FORMULA, f"the output differs from equation 1 by up to {apart:.2g}"
        return
    yield FORMULA, None
    if "causal" in type(module).__name__.lower() and "mask" not in takes(module, ATTENTION):
        sees_all = "it is called causal, and hides nothing"
        yield FUTURE, sees_all if inputs.visible is None else None
    missing = dict(_missing(workshop, module, matrices))
    yield from missing.items()
    for check in dict.fromkeys(check for check, _ in _PIECES.values()):
        said = [
            sentence.format(form[piece])
            for piece, (own, sentence) in _PIECES.items()
            if own is check and form[piece] != RIGHT[piece]
        ]
        measured = f"{', '.join(said)}: that gives its output to rounding, and equation 1 gives one"
        if said or check not in missing:
            yield check, f"{measured} that differs by up to {apart:.2g}" if said else None


def _missing(workshop: Workshop, module: nn.Module, matrices: Matrices) -> Iterator[Verdict]:
    """Tell which of the paper's matrices there are not, by the check that they belong to."""
    if shares_heads(module.modules()):
        d_k = SIZES.head_width
        yield PROJECTIONS, f"three matrices, {d_k} by {d_k}, are those of all {SIZES.heads} heads"
    if isinstance(matrices["W^O"], nn.Identity) and not _is_mixed_outside(workshop):
        yield OUTPUT, "of the four matrices it has those of queries, keys and values only"


def _is_mixed_outside(workshop: Workshop) -> bool:
    """Tell whether what contains the attention has a layer that may be its W^O."""
    attention = workshop.found["MultiHeadAttention"]
    for part in {"EncoderBlock", "DecoderBlock", "Transformer"} & workshop.found.keys():
        try:
            whole = workshop.build(part)
        except Exception:  # which is reported where the part is examined
            return True
        inside = {id(x) for own in whole.modules() if type(own) is attention for x in own.modules()}
        if any(
            layer.in_features == layer.out_features and id(layer) not in inside
            for layer in _layers(whole)
        ):
            return True
    return False


def _layers(module: nn.Module) -> Iterator[nn.Linear]:
    return (layer for layer in module.modules() if isinstance(layer, nn.Linear))


def _explain(module: nn.Module, inputs: Inputs) -> tuple[Form | None, Inputs]:
    """Find the form of an attention, also where a mistake undoes a mask of its own."""
    form = explain(module, inputs)
    if form is None and not attends_elsewhere(module):
        causal = replace(inputs, visible=all_visible(inputs).tril())
        if form := explain(module, causal):
            return form, causal
    return form, inputs


def _refuse_more_than_attention(module: nn.Module) -> None:
    """Leave alone an attention that may be right but is more than the paper's.

    Raises:
        NotCheckableError: its code has a norm, or positions of its own.
    """
    words = {word for part in module.modules() for word in _words(part)}
    if any("norm" in word.lower() for word in words - _held_by(module)):
        raise NotCheckableError("equation 1 (it has a norm of its own, and is more than attention)")
    if any(map(_OF_POSITIONS.search, words)) and _scores_tell_positions_apart(module):
        raise NotCheckableError(
            "equation 1 (its scores tell positions apart, as with rotary queries and keys, Su et "
            "al. 2021, or linear biases, Press et al. 2022)"
        )


def _words(part: nn.Module) -> set[str]:
    """Collect the name of a class and the names that its code calls and reads."""
    return {type(part).__name__, *words_in(type(part).forward)}


def _held_by(module: nn.Module) -> set[str]:
    """Collect the names of the values that a module holds besides its parts."""
    held = {name for name, value in vars(module).items() if not callable(value)}
    return held.union(name for name, _ in module.named_buffers())


def _scores_tell_positions_apart(module: nn.Module) -> bool:
    """Tell whether the scores alone show the last word the order of the others.

    For words that are all the same, attention gives W^O W^V, whatever the scores.
    """
    x, alike = random(2, 5, SIZES.d_model), random(2, 1, SIZES.d_model).expand(-1, 5, -1)
    with torch.no_grad():
        straight, shuffled, of_alike = (
            attend(module, y, y, y) for y in (x, x[:, [2, 0, 3, 1, 4]], alike)
        )
        averages = any(
            same(of_alike, matrices["W^O"](matrices["W^V"](alike)))
            for matrices in read_matrices(module)
        )
    return averages and not same(straight[:, -1], shuffled[:, -1])


def kept_map(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Examine what the module keeps of its weights, in training."""
    module = workshop.build(part, dropout=0.5)
    inputs = inputs_for(module)
    call_attention(module.train(), inputs)
    shape = (2, SIZES.heads, inputs.query.size(1), inputs.key.size(1))
    for name, value in vars(module).items():
        if isinstance(value, Tensor) and value.shape == shape:
            sums = value.sum(dim=-1)
            apart = distance(sums, torch.ones_like(sums))
            wrong = f"the rows of `{name}` sum to {sums.min():.2f} ... {sums.max():.2f} in training"
            yield MAP, wrong if apart > ROUNDING else None


EXAMINATIONS = (equation, kept_map)
