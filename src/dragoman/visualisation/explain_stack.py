"""The encoder or the decoder on a page: every head, and what each sublayer adds."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dragoman.counting import counted
from dragoman.visualisation.attention_grid import attention_grid
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.stream_trace import (
    Array,
    StackTrace,
    SublayerKind,
    SublayerTrace,
    norms,
)

MOST_CELLS = 90_000
"""In all grids of a page together; with more, each layer shows the mean of its heads."""

STYLE = """
details { border-top: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; padding: .3rem 0; }
summary b { margin-right: .6rem; }
summary span { color: var(--muted); font-size: .9rem; }
.heads {
  display: flex; flex-wrap: wrap; align-items: end; gap: 1rem 1.75rem; margin: .75rem 0 1.25rem;
}
figure { margin: 0; max-width: 100%; }
figcaption {
  width: 0; min-width: 100%; color: var(--muted); font-size: .85rem; margin-bottom: .35rem;
}
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.bar {
  min-width: 5rem;
  background: linear-gradient(
    to right, color-mix(in oklab, var(--accent) 28%, transparent) calc(var(--w) * 100%),
    transparent 0
  ) no-repeat center / 100% 70%;
}
.contributions td, .contributions th { padding: .15rem .7rem .15rem .3rem; }
.contributions .group { text-align: center; }
"""


def stack_layers(
    stack: StackTrace,
    *,
    tokens: Sequence[str],
    looks_at: dict[SublayerKind, Sequence[str]],
    heads_apart: bool,
    name: str,
) -> str:
    """Write a collapsible section for each layer; the first is open.

    Args:
        stack: What was computed.
        tokens: The label of each position.
        looks_at: The labels of what each kind of attention looks at.
        heads_apart: Whether each head is drawn, or their mean.
        name: "encoder" or "decoder", for identifiers.
    """
    layers = []
    for number, layer in enumerate(stack.layers, start=1):
        drawn = [
            _heads(each, tokens, looks_at[each.kind], heads_apart, f"{name} layer {number}")
            for each in layer
            if each.weights is not None
        ]
        opened = {"open": "open"} if number == 1 else {}
        layers.append(
            element(
                "details",
                {"id": f"{name}-{number}", **opened},
                element("summary", {}, element("b", {}, f"Layer {number}"), _in_short(layer)),
                *drawn,
                element("h3", {}, "What each sublayer adds"),
                _contributions(layer, tokens),
            )
        )
    return "".join(layers)


def num_cells(stacks: Sequence[StackTrace]) -> int:
    """Count the weights of all heads."""
    return sum(
        sublayer.weights.size
        for stack in stacks
        for layer in stack.layers
        for sublayer in layer
        if sublayer.weights is not None
    )


def _in_short(layer: Sequence[SublayerTrace]) -> str:
    """Say how much each sublayer changes the stream, on average."""
    parts = [f"{_name(each.kind)} adds {each.shares.mean():.2f}" for each in layer]
    return element("span", {}, escape(", ".join(parts) + " of the stream’s length, on average"))


def _name(kind: SublayerKind) -> str:
    return kind.replace("_", "-")


def _heads(
    sublayer: SublayerTrace, rows: Sequence[str], columns: Sequence[str], apart: bool, place: str
) -> str:
    """Draw the heads of a sublayer, or their mean."""
    weights = sublayer.weights
    assert weights is not None
    named = (
        [(f"head {number}", head) for number, head in enumerate(weights, start=1)]
        if apart
        else [(f"mean of {counted(len(weights), 'head')}", weights.mean(axis=0))]
    )
    kind = _name(sublayer.kind)
    chosen = list(rows) != list(columns)  # a decoder's row is the token chosen at its position
    figures = [
        element(
            "figure",
            {},
            element(
                "figcaption", {}, escape(f"{name}: {habit(head, sublayer.kind, chosen=chosen)}")
            ),
            element(
                "div",
                {"class": "wide"},
                attention_grid(head, rows, columns, f"{kind}, {place}, {name}"),
            ),
        )
        for name, head in named
    ]
    return element("h3", {}, escape(kind.capitalize())) + element(
        "div", {"class": "heads"}, *figures
    )


def habit(weights: Array, kind: SublayerKind, *, chosen: bool = False) -> str:
    """Say how sharp a head is and, in self-attention, where its largest weight mostly is.

    Args:
        weights: A row for each position that asks.
        kind: Of the sublayer.
        chosen: Whether a row is named after the token that is chosen there, not the one given.

    >>> habit(np.array([[0.75, 0.25, 0.0], [0.75, 0.25, 0.0], [0.0, 1.0, 0.0]]), "self_attention")
    'largest weight 0.83 on average, mostly (2 of 3 rows) at the position before'
    """
    sharpness = f"largest weight {weights.max(axis=1).mean():.2f} on average"
    if kind == "cross_attention":
        return sharpness
    distances = weights.argmax(axis=1) - np.arange(len(weights))
    ((distance, count),) = Counter(distances.tolist()).most_common(1)
    if count <= len(weights) / 2:
        return sharpness
    if chosen:
        names = {0: "the token before", -1: "the one before that"}
    else:
        names = {0: "its own position", -1: "the position before", 1: "the position after"}
    further = f"{abs(distance) + chosen} positions {'back' if distance < 0 else 'ahead'}"
    where = names.get(distance, further)
    return f"{sharpness}, mostly ({count} of {len(weights)} rows) at {where}"


def _contributions(layer: Sequence[SublayerTrace], tokens: Sequence[str]) -> str:
    """Write, for each token, the stream's length and the size and direction of each addition."""
    groups = [
        element("th", {"class": "group", "colspan": 3}, escape(_name(each.kind))) for each in layer
    ]
    columns = ["stream", "adds", "cosine"] * len(layer)
    names = [element("th", {"class": "number"}, column) for column in columns]
    lengths = [norms(each.stream) for each in layer]
    rows = [
        element(
            "tr",
            {},
            element("td", {"dir": "auto"}, escape(token)),
            *(
                cell
                for each, stream in zip(layer, lengths, strict=True)
                for cell in (
                    number_cell(f"{stream[i]:.2f}"),
                    bar_cell(f"{each.shares[i]:.2f}", each.shares[i]),
                    number_cell(f"{each.cosines[i]:+.2f}"),
                )
            ),
        )
        for i, token in enumerate(tokens)
    ]
    head = element("tr", {}, element("th", {}), *groups) + element(
        "tr", {}, element("th", {}, "token"), *names
    )
    return element(
        "div", {"class": "wide"}, element("table", {"class": "contributions"}, head, *rows)
    )


def number_cell(content: str) -> str:
    """Write a right-aligned number."""
    return element("td", {"class": "number"}, escape(content))


def bar_cell(content: str, share: float) -> str:
    """Write a number on a bar, which is full at 1 and above."""
    style = f"--w:{min(max(share, 0.0), 1.0):.3f}"
    return element("td", {"class": "number bar", "style": style}, escape(content))
