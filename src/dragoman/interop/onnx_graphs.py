"""A Transformer as two ONNX graphs: one reads the source, one writes the target.

Batch size and lengths are free in both. The decoder's past goes in and comes out as a value, so
the caller keeps the state, and a step costs only as much as its one new token.
"""

import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.decoder import DecoderBlock
from dragoman.model.decoder_state import BlockState, DecoderState
from dragoman.model.keys_and_values import KeysAndValues
from dragoman.model.masks import padding_mask
from dragoman.model.positional_encoding import Position, SinusoidTable, sinusoids
from dragoman.model.transformer import Transformer

Cache = Float[Tensor, "layer batch heads positions d_k"]

ENCODER_NAME = "encoder.onnx"
DECODER_NAME = "decoder.onnx"

Axes = dict[str, tuple[str, ...]]
"""The axes of each input or output."""

ENCODER_INPUTS: Axes = {"source": ("batch", "source")}
ENCODER_OUTPUTS: Axes = {
    "source_keys": ("layer", "batch", "head", "source", "d_k"),
    "source_values": ("layer", "batch", "head", "source", "d_k"),
}
DECODER_INPUTS: Axes = {
    "tokens": ("batch", "target"),
    **ENCODER_INPUTS,
    **ENCODER_OUTPUTS,
    "past_keys": ("layer", "batch", "head", "past", "d_k"),
    "past_values": ("layer", "batch", "head", "past", "d_k"),
}
DECODER_OUTPUTS: Axes = {
    "log_probabilities": ("batch", "target", "vocabulary"),
    "keys": ("layer", "batch", "head", "past + target", "d_k"),
    "values": ("layer", "batch", "head", "past + target", "d_k"),
}
TOKENS = ("source", "tokens")
"""The inputs that are token ids; all others are floats."""

TRACED_SIZES = {"batch": 2, "target": 4, "source": 5, "past": 3}
"""Sizes of the free axes. All differ, so that the graph cannot confuse one with another."""


class EncoderGraph(nn.Module):
    """Read the source, and project it to what each decoder block attends to."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, source: Int[Tensor, "batch source"]) -> tuple[Cache, Cache]:
        """Return keys and values; the source ends with EOS and is padded on the right."""
        mask = padding_mask(source, self.transformer.padding_id)
        memory = self.transformer.encode(source, mask)
        projected = []
        for block in self.transformer.decoder.blocks:
            assert isinstance(block, DecoderBlock)
            projected.append(block.cross_attention.project(memory))
        return _stack(projected)


class DecoderGraph(nn.Module):
    """Advance by any number of target tokens."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(
        self,
        tokens: Int[Tensor, "batch target"],
        source: Int[Tensor, "batch source"],
        source_keys: Cache,
        source_values: Cache,
        past_keys: Cache,
        past_values: Cache,
    ) -> tuple[Float[Tensor, "batch target vocab"], Cache, Cache]:
        """Return the log-probabilities of what follows each token, and the longer past."""
        model, num_past = self.transformer, past_keys.size(3)
        x = model.positions(model.target_embeddings(tokens), first_position=num_past)
        positions = torch.arange(num_past + tokens.size(1))
        visible = (positions <= positions[num_past:, None])[None]
        blocks = tuple(
            BlockState(KeysAndValues(*of_source), KeysAndValues(*of_target))
            for *of_source, of_target in zip(
                source_keys, source_values, zip(past_keys, past_values, strict=True), strict=True
            )
        )
        mask = padding_mask(source, model.padding_id)
        state = DecoderState(blocks, mask, length=num_past, visible=visible)
        rotate = model.positions.rotation(tokens.size(1), first_position=num_past)
        states, state = model.decoder.advance(x, state, rotate)
        seen = [block.target for block in state.blocks if block.target is not None]
        return model.project(states).log_softmax(dim=-1), *_stack(seen)


class FixedTable(SinusoidTable):
    """A table that does not grow: running past its end is an error of whoever runs the graph."""

    def __init__(self, num_positions: int, like: SinusoidTable) -> None:
        super().__init__(like.width, like.convention)
        self.table = sinusoids(num_positions, like.width, like.convention)

    def forward(
        self, length: int, *, first_position: Position = 0
    ) -> Float[Tensor, "length width"]:
        """Look up each position, which the graph checks; a slice would silently be shorter."""
        return self.table[torch.arange(length) + first_position]


def write_graphs(transformer: Transformer, directory: Path, *, num_positions: int) -> None:
    """Trace a model and write `encoder.onnx` and `decoder.onnx`."""
    config = transformer.config
    fixed = copy.deepcopy(transformer)
    for name, part in transformer.positions.named_children():
        if isinstance(part, SinusoidTable):
            setattr(fixed.positions, name, FixedTable(num_positions, like=part))
    sizes = {
        **TRACED_SIZES,
        "layer": config.num_decoder_layers,
        "head": config.num_heads,
        "d_k": config.d_k,
    }
    for graph, path, inputs, outputs in (
        (EncoderGraph(fixed), directory / ENCODER_NAME, ENCODER_INPUTS, ENCODER_OUTPUTS),
        (DecoderGraph(fixed), directory / DECODER_NAME, DECODER_INPUTS, DECODER_OUTPUTS),
    ):
        arguments = tuple(
            torch.zeros(
                [sizes[axis] for axis in axes],
                dtype=torch.long if name in TOKENS else torch.float32,
            )
            for name, axes in inputs.items()
        )
        _trace(graph.eval(), arguments, path, inputs, tuple(outputs))


def _trace(
    graph: nn.Module,
    arguments: tuple[Tensor, ...],
    path: Path,
    inputs: Axes,
    outputs: Sequence[str],
) -> None:
    """Turn a module into a file.

    The two steps are taken separately: given a module, the exporter would silently fix the sizes
    that it cannot leave free.
    """
    free = {axis: torch.export.Dim(axis) for axis in TRACED_SIZES}
    shapes = {
        name: {place: free[axis] for place, axis in enumerate(axes) if axis in free}
        for name, axes in inputs.items()
    }
    with torch.no_grad(), _quietly():
        program = torch.onnx.export(
            torch.export.export(graph, arguments, dynamic_shapes=shapes, strict=False),
            dynamo=True,
            input_names=list(inputs),
            output_names=list(outputs),
            verbose=False,
        )
    assert program is not None
    program.rename_axes(_axis_names(program, inputs))
    program.save(path, external_data=False)


def _axis_names(program: torch.onnx.ONNXProgram, inputs: Axes) -> dict[Any, str]:
    """Find out what the exporter calls the free axes."""
    names = {}
    for traced, axes in zip(program.model.graph.inputs, inputs.values(), strict=True):
        assert traced.shape is not None
        for size, axis in zip(traced.shape, axes, strict=True):
            if axis in TRACED_SIZES:
                names[size] = axis
    return names


def _stack(blocks: Sequence[KeysAndValues]) -> tuple[Cache, Cache]:
    """Put the keys of all blocks into one tensor, and the values into another."""
    return (
        torch.stack([block.keys for block in blocks]),
        torch.stack([block.values for block in blocks]),
    )


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the exporter's messages about packages not needed here, and about its own code."""
    registration = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = registration.level
    registration.setLevel(logging.ERROR)  # torchvision is not installed
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*LeafSpec.* is deprecated", FutureWarning)
            yield
    finally:
        registration.setLevel(level)
