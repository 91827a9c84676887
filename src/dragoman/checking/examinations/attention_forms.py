"""Correct attention and its common mistakes, to be compared with a learner's.

Each form is equation 1 with some of its parts replaced. The form with the fewest replacements that
gives a learner's output from the learner's own weights says what the learner's code does.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import torch
from torch import Tensor, nn

from dragoman.checking.calls import attend, attends_elsewhere
from dragoman.checking.construction import SIZES
from dragoman.checking.examinations.check import random, same

RIGHT = {
    "scale": "sqrt(d_k)",
    "softmax": "keys",
    "split": "by features",
    "merge": "by features",
    "heads": "num_heads",
    "queries": "W^Q",
    "keys": "W^K",
    "values": "W^V",
    "transpose": "transposed",
    "output": "W^O",
    "mask": "before the softmax",
}
"""Every part of multi-head attention, as in section 3.2."""

WRONG = {
    "scale": (
        *("nothing", "sqrt(d_model)", "d_k", "the root of the length"),
        *("the root of the number of heads", "1 / sqrt(d_k)"),
    ),
    "softmax": ("queries", "heads"),
    "split": ("by positions",),
    "merge": ("by positions",),
    "heads": ("one",),
    "queries": ("W^K", "no matrix"),
    "keys": ("W^Q", "W^V", "no matrix"),
    "values": ("W^Q", "W^K", "no matrix"),
    "transpose": ("reshaped",),
    "output": ("no matrix",),
    "mask": ("nowhere", "after the softmax", "with scores of 0"),
}
"""What is found in place of them."""

MOST_EXCHANGES = 3

Form = Mapping[str, str]
Projection = Callable[[Tensor], Tensor]
Matrices = Mapping[str, Projection]
"""W^Q, W^K, W^V, W^O as functions; (batch, length, d_model) to the same."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of attention; (batch, length, d_model) each."""

    query: Tensor
    key: Tensor
    value: Tensor
    visible: Tensor | None = None
    """(batch, query, key), True where attention may look."""


def forms() -> Iterator[dict[str, str]]:
    """Iterate over all forms, those with the fewest replacements first, leaving masks aside."""
    pieces = [piece for piece in RIGHT if piece != "mask"]
    for count in range(MOST_EXCHANGES + 1):
        for exchanged in combinations(pieces, count):
            for options in product(*(WRONG[piece] for piece in exchanged)):
                yield {**RIGHT, **dict(zip(exchanged, options, strict=True))}


def compute(form: Form, matrices: Matrices, inputs: Inputs) -> Tensor:
    """Compute multi-head attention in a form."""
    heads = SIZES.heads if form["heads"] == "num_heads" else 1
    queries, keys, values = (
        _split(matrices[form[piece]](x), heads, by=form["split"])
        for piece, x in (
            ("queries", inputs.query),
            ("keys", inputs.key),
            ("values", inputs.value),
        )
    )
    weights = _weights(form, queries, keys, inputs)
    attended = weights @ values
    if form["merge"] == "by features":
        attended = attended.transpose(1, 2)
    return matrices[form["output"]](attended.reshape(inputs.query.shape))


def _split(x: Tensor, heads: int, *, by: str) -> Tensor:
    """Split into heads: (batch, heads, length, d_k)."""
    batch, length, width = x.shape
    if by == "by features":
        return x.view(batch, length, heads, width // heads).transpose(1, 2)
    return x.reshape(batch, heads, length, width // heads)


def _weights(form: Form, queries: Tensor, keys: Tensor, inputs: Inputs) -> Tensor:
    """Compute the attention weights, (batch, heads, query, key)."""
    if form["transpose"] == "transposed":
        turned = keys.transpose(-2, -1)
    else:
        turned = keys.reshape(*keys.shape[:2], keys.size(3), keys.size(2))
    d_k = queries.size(-1)
    divisor = {
        "sqrt(d_k)": math.sqrt(d_k),
        "nothing": 1.0,
        "sqrt(d_model)": math.sqrt(inputs.query.size(-1)),
        "d_k": d_k,
        "the root of the length": math.sqrt(keys.size(2)),
        "the root of the number of heads": math.sqrt(queries.size(1)),
        "1 / sqrt(d_k)": 1 / math.sqrt(d_k),
    }[form["scale"]]
    scores = queries @ turned / divisor
    dim = {"keys": -1, "queries": -2, "heads": 1}[form["softmax"]]
    if inputs.visible is None or form["mask"] == "nowhere":
        return scores.softmax(dim)
    visible = inputs.visible[:, None]
    if form["mask"] == "after the softmax":
        return scores.softmax(dim) * visible
    hidden = -math.inf if form["mask"] == "before the softmax" else 0.0
    return scores.masked_fill(~visible, hidden).softmax(dim)


def explain(module: nn.Module, inputs: Inputs) -> dict[str, str] | None:
    """Find the form of a learner's attention; None if it is none of them, or cannot be compared."""
    output = call_attention(module, inputs)
    candidates = list(read_matrices(module))
    for form in forms():
        for matrices in candidates:
            if same(compute(form, matrices, inputs), output):
                return form
    return None


def call_attention(module: nn.Module, inputs: Inputs, mask: Tensor | None = None) -> Tensor:
    """Call a learner's attention."""
    with torch.no_grad():
        return attend(module, inputs.query, inputs.key, inputs.value, mask)


def inputs_for(module: nn.Module) -> Inputs:
    """Draw the inputs of an attention; one that takes a single sequence attends to itself.

    For one that makes a decoder's mask itself, `visible` says what it may see.
    """
    query, key, value = (random(2, n, SIZES.d_model, seed=n, scale=3.0) for n in (5, 7, 7))
    if attends_elsewhere(module):
        inputs = Inputs(query=query, key=key, value=value + key.flip(1))
    else:
        inputs = Inputs(query=query, key=query, value=query)
    if not _hides_the_future(module, inputs):
        return inputs
    return replace(inputs, visible=all_visible(inputs).tril())


def all_visible(inputs: Inputs) -> Tensor:
    """Make a mask that hides nothing: (batch, query, key)."""
    batch, length, _ = inputs.query.shape
    return torch.ones(batch, length, inputs.key.size(1), dtype=torch.bool)


def _hides_the_future(module: nn.Module, inputs: Inputs) -> bool:
    """Tell whether no position depends on a later one."""
    before = call_attention(module, inputs)
    for last in range(inputs.query.size(1) - 1):
        query, key, value = (
            torch.cat([x[:, : last + 1], -x[:, last + 1 :]], dim=1)
            for x in (inputs.query, inputs.key, inputs.value)
        )
        after = call_attention(module, Inputs(query=query, key=key, value=value))
        if not same(after[:, : last + 1], before[:, : last + 1], 1e-6):
            return False
    return True


def read_matrices(module: nn.Module) -> Iterator[Matrices]:
    """Find the four projections among the layers of a learner's attention.

    They are told apart by their names or, if the names do not tell, by their order. One layer of
    two or three times the width may hold keys and values, or queries, too, side by side, overall
    or for each head. Or each head has three layers of its own.
    """
    linears = {name: x for name, x in module.named_modules() if isinstance(x, nn.Linear)}
    widths = sorted(x.out_features // x.in_features for x in linears.values())
    if widths not in _WIDTHS:
        yield from _of_own_layers(linears)
        return
    for slice_of in (_slice, _slice_of_each_head) if widths[-1] > 1 else (_slice,):
        ordered = _in_order(linears, slice_of)
        if shares_heads(ordered):
            yield _matrices(*(_of_each_head(x) for x in ordered[:3]), *ordered[3:])
        else:
            yield _matrices(*ordered)
            yield _strided(_matrices(*ordered))


_WIDTHS = ([1, 1, 1, 1], [1, 1, 2], [1, 3], [1, 1, 1], [1, 2], [3])
"""Of the projections, as multiples of what goes in; the last three are without W^O."""


def _in_order(
    linears: Mapping[str, nn.Linear], slice_of: Callable[[nn.Linear, int, int], Projection]
) -> list[Projection]:
    """Put queries, keys and values first, each as a layer or as a slice of one."""
    pieces: list[tuple[str, Projection]] = []
    for name, layer in linears.items():
        count = layer.out_features // layer.in_features
        letters = _letters(name, count)
        pieces += [
            (letters[k : k + 1], layer if count == 1 else slice_of(layer, k, count))
            for k in range(count)
        ]
    by_letter = dict(pieces)
    if len(by_letter) < len(pieces) or not {*"qkv"} <= {*by_letter}:
        return [piece for _, piece in pieces]
    return [by_letter.pop(letter) for letter in "qkv"] + [*by_letter.values()]


def shares_heads(layers: Iterable[Projection]) -> bool:
    """Tell whether three of the layers have the width of a head, and so serve all heads."""
    widths = [x.in_features for x in layers if isinstance(x, nn.Linear)]
    return widths.count(SIZES.head_width) == 3  # noqa: PLR2004


def _of_each_head(layer: Projection) -> Projection:
    return lambda x: layer(x.unflatten(-1, (SIZES.heads, -1))).flatten(start_dim=-2)


def _of_own_layers(linears: Mapping[str, nn.Linear]) -> Iterator[Matrices]:
    """Put the layers of the heads side by side; what is left mixes the heads."""
    narrow = {name: x for name, x in linears.items() if x.out_features == SIZES.head_width}
    of_heads = [[x for name, x in narrow.items() if _letters(name) == letter] for letter in "qkv"]
    others = [x for x in linears.values() if not any(x in layers for layers in of_heads)]
    if len(others) <= 1 and all(len(layers) == SIZES.heads for layers in of_heads):
        yield _matrices(*map(_side_by_side, of_heads), *others)


def _side_by_side(layers: Iterable[nn.Module]) -> Projection:
    return lambda x: torch.cat([layer(x) for layer in layers], dim=-1)


def _letters(name: str, count: int = 1) -> str:
    """Find the letters in the name of projections: q of `w_q`, `q_proj` and `query_linear`."""
    leaf = name.rpartition(".")[2].lower()
    if count > 1:
        return "qkv" if count > 2 else "qk" if "qk" in leaf else "kv"  # noqa: PLR2004
    for word in ("projection", "project", "proj", "linear", "weights", "weight", "layer", "dense"):
        leaf = leaf.replace(word, "")
    return leaf.replace("fc", "").strip("_").removeprefix("to").strip("_w")[:1]


def _matrices(
    query: Projection,
    key: Projection,
    value: Projection,
    output: Projection = nn.Identity(),  # noqa: B008
) -> Matrices:
    return {"W^Q": query, "W^K": key, "W^V": value, "W^O": output, "no matrix": nn.Identity()}


def _strided(matrices: Matrices) -> Matrices:
    """Let a head have every h-th feature, not adjacent ones: as good a split."""

    def gather(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, SIZES.heads)).transpose(-1, -2).flatten(start_dim=-2)

    def scatter(x: Tensor) -> Tensor:
        return x.unflatten(-1, (SIZES.heads, -1)).transpose(-1, -2).flatten(start_dim=-2)

    def gathered(matrix: Projection) -> Projection:
        return lambda x: gather(matrix(x))

    strided = {name: gathered(matrices[name]) for name in ("W^Q", "W^K", "W^V")}
    return {**matrices, **strided, "W^O": lambda x: matrices["W^O"](scatter(x))}


def _slice(layer: nn.Linear, index: int, count: int) -> Projection:
    return lambda x: layer(x).chunk(count, dim=-1)[index]


def _slice_of_each_head(layer: nn.Linear, index: int, count: int) -> Projection:
    return lambda x: (
        layer(x).unflatten(-1, (SIZES.heads, -1)).chunk(count, dim=-1)[index].flatten(start_dim=-2)
    )
