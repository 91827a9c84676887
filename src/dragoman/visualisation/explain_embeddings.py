"""Embeddings and positions on a page: what enters the first layers."""

import math
from collections.abc import Sequence

from dragoman.model.config import TransformerConfig
from dragoman.visualisation.attention_grid import shaded_cells
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import table
from dragoman.visualisation.positions import position_tables
from dragoman.visualisation.stream_trace import StackTrace, cosines, norms
from dragoman.visualisation.svg import drawing
from dragoman.visualisation.trace import Trace

MOST_DIMENSIONS = 64
"""Dimensions of the sines that are drawn."""


def embeddings_section(trace: Trace) -> str:
    """Write the lengths of the vectors that enter both stacks, and draw the positions."""
    d_model = trace.model.d_model
    is_rotary = trace.model.positional_encoding == "rotary"
    words = (
        f"Each id picks a row of {d_model} learned numbers, which is multiplied by √d_model = "
        f"{d_model**0.5:.2f} (section 3.4). Attention does not know the order of tokens, so "
        + (_TURNED if is_rotary else _ADDED.format(length=(d_model / 2) ** 0.5))
    )
    sides = [
        element(
            "div",
            {"id": f"embeddings-{name}"},
            element("h3", {}, name),
            _lengths(stack, tokens.pieces, is_rotary=is_rotary),
        )
        for name, stack, tokens in (
            ("source", trace.streams.encoder, trace.source),
            ("target", trace.streams.decoder, trace.target),
        )
    ]
    return (
        element("p", {}, escape(words))
        + element("div", {"class": "side"}, *sides)
        + _draw_sines(max(len(trace.source.ids), len(trace.target.ids)), trace.model)
    )


_ADDED = (
    "a vector of sines and cosines of the position is added (section 3.5), whose length is always "
    "√(d_model / 2) = {length:.2f}. The sum enters the first layer."
)

_TURNED = (
    "each self-attention turns its queries and keys, pair by pair of their dimensions, by angles "
    "that grow with the position (Su et al. 2021). Nothing is added: the embeddings alone enter "
    "the first layer."
)


def _lengths(stack: StackTrace, pieces: Sequence[str], *, is_rotary: bool) -> str:
    """Write the lengths of the vectors, and the cosine between embedding and position."""
    columns = {"length of the embedding": norms(stack.embedded)}
    if not is_rotary:
        columns |= {
            "of the position": norms(stack.positions),
            "of the sum": norms(stack.embedded + stack.positions),
            "cosine": cosines(stack.embedded, stack.positions),
        }
    rows = [
        [piece, *(f"{value:.2f}" for value in values)]
        for piece, *values in zip(pieces, *columns.values(), strict=True)
    ]
    return table(["piece", *columns], rows, numbers=frozenset({1, 2, 3, 4}))


def _draw_sines(num_positions: int, config: TransformerConfig) -> str:
    """Draw the sines of the encodings, or of the angles, of positions, from -1 to 1."""
    if config.positional_encoding == "rotary":
        whose = "angles by which a pair is turned"
        tables = position_tables(num_positions, config.d_k)
    else:
        whose = "positional encodings"
        tables = position_tables(num_positions, config.d_model, config.positional_encoding)
    step = -(-len(tables.wavelengths) // MOST_DIMENSIONS)
    shown = tables.sines[:, ::step]
    longest = tables.wavelengths[::step][-1] / (2 * math.pi)
    which = "Every sine" if step == 1 else f"One in {step} sines"
    caption = (
        f"{which} of the {whose}; one row per position, from 0 at the top. The wave at the left "
        f"is 2π positions long, the last one {longest:,.0f} · 2π: nearby positions differ at the "
        "left, distant ones at the right."
    )
    cell = 12  # pixels
    picture = drawing(
        cell * shown.shape[1],
        cell * len(shown),
        f"Sines of the {whose}",
        element(
            "g",
            {"class": "grid-of-weights", "transform": f"scale({cell})"},
            shaded_cells((shown + 1) / 2),
        ),
    )
    return element(
        "figure",
        {},
        element("h3", {}, "The positions"),
        element("figcaption", {}, escape(caption)),
        element("div", {"class": "wide"}, picture),
    )
