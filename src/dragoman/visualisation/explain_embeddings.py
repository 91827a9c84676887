"""Embeddings and positions on a page: what enters the first layers."""

from collections.abc import Sequence

from dragoman.visualisation.attention_grid import shaded_cells
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import table
from dragoman.visualisation.stream_trace import Array, StackTrace, cosines, norms
from dragoman.visualisation.svg import drawing
from dragoman.visualisation.trace import Trace

MOST_DIMENSIONS = 64
"""Of the positional encodings that are drawn."""


def embeddings_section(trace: Trace) -> str:
    """Write how long the vectors are that enter both stacks, and draw the positions."""
    d_model = trace.model.d_model
    words = (
        f"Each id picks a row of {d_model} learned numbers, which is multiplied by √d_model = "
        f"{d_model**0.5:.2f} (section 3.4). Attention does not know what stands where, so a vector "
        "of sines and cosines of the position is added (section 3.5), whose length is always "
        f"√(d_model / 2) = {(d_model / 2) ** 0.5:.2f}. The sum enters the first layer."
    )
    encoder, decoder = trace.streams.encoder, trace.streams.decoder
    sides = [
        element("div", {"id": f"embeddings-{name}"}, element("h3", {}, name), _lengths(*side))
        for name, side in (
            ("source", (encoder, trace.source.pieces)),
            ("target", (decoder, trace.target.pieces)),
        )
    ]
    longer = max(encoder.positions, decoder.positions, key=len)
    return (
        element("p", {}, escape(words))
        + element("div", {"class": "side"}, *sides)
        + _positions(longer, is_interleaved=trace.model.positional_encoding == "interleaved")
    )


def _lengths(stack: StackTrace, pieces: Sequence[str]) -> str:
    """Write how long the vectors are, and how embedding and position lie to each other."""
    rows = [
        [piece, *(f"{value:.2f}" for value in values)]
        for piece, *values in zip(
            pieces,
            norms(stack.embedded),
            norms(stack.positions),
            norms(stack.embedded + stack.positions),
            cosines(stack.embedded, stack.positions),
            strict=True,
        )
    ]
    head = ["piece", "embedding", "position", "sum", "cosine"]
    return table(head, rows, numbers=frozenset({1, 2, 3, 4}))


def _positions(positions: Array, *, is_interleaved: bool) -> str:
    """Draw the sines of the positional encodings, from -1 to 1."""
    sines = positions[:, ::2] if is_interleaved else positions[:, : positions.shape[1] // 2]
    step = -(-sines.shape[1] // MOST_DIMENSIONS)
    shown = sines[:, ::step]
    which = "Every sine" if step == 1 else f"One in {step} sines"
    caption = (
        f"{which} of the positional encodings; a row a position, from 0 at the top. At the left a "
        "wave is 2π positions long, at the right almost 10000 · 2π: nearby positions differ at "
        "the left, far ones at the right."
    )
    cell = 12  # pixels
    picture = drawing(
        cell * shown.shape[1],
        cell * len(shown),
        "Sines of the positional encodings",
        element(
            "g",
            {"class": "grid-of-weights", "transform": f"scale({cell})"},
            shaded_cells((shown + 1) / 2),
        ),
    )
    return element(
        "figure",
        {},
        element("h3", {}, "The encodings of the positions"),
        element("figcaption", {}, escape(caption)),
        element("div", {"class": "wide"}, picture),
    )
