"""The residual stream of a translation: what enters each sublayer, and what it adds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dragoman.model.transformer import Transformer
from dragoman.visualisation.attention_maps import Map, read_attention

Array = NDArray[np.floating[Any]]
SublayerKind = Literal["self_attention", "cross_attention", "feed_forward"]

Calls = dict[nn.Module, list[tuple[Tensor, Any]]]
"""The first argument and the result of each call of a module."""


@dataclass(frozen=True, kw_only=True)
class SublayerTrace:
    """One box of figure 1 with the residual connection around it."""

    kind: SublayerKind

    stream: Array
    """What enters, of shape (positions, d_model)."""

    added: Array
    """What the sublayer adds to it, of the same shape."""

    weights: Array | None
    """The attention weights, of shape (heads, positions, positions looked at)."""

    @property
    def shares(self) -> Array:
        """The length of what is added, divided by that of the stream, for each position."""
        return norms(self.added) / norms(self.stream)

    @property
    def cosines(self) -> Array:
        """The cosine between what is added and the stream, for each position."""
        return cosines(self.added, self.stream)


@dataclass(frozen=True, kw_only=True)
class StackTrace:
    """One side of figure 1, from the bottom to the top."""

    embedded: Array
    """Embeddings times sqrt(d_model), of shape (positions, d_model)."""

    positions: Array
    """The positional encodings that are added to them; zeros if they are rotary."""

    layers: tuple[tuple[SublayerTrace, ...], ...]

    output: Array
    """What leaves the stack, after the last norm."""


@dataclass(frozen=True, kw_only=True)
class StreamTrace:
    """Everything that a model computes for a given translation."""

    encoder: StackTrace
    decoder: StackTrace

    logits: Array
    """Of the token after each target position, of shape (positions, vocabulary)."""


def norms(vectors: Array) -> Array:
    """Compute the length of each row."""
    return np.linalg.norm(vectors, axis=-1)


def cosines(one: Array, other: Array) -> Array:
    """Compute the cosine of the angle between two rows; 0 where one of them is zero."""
    lengths = norms(one) * norms(other)
    return (one * other).sum(axis=-1) / np.where(lengths > 0, lengths, 1)


def trace_streams(
    transformer: Transformer, source: Sequence[int], target: Sequence[int]
) -> StreamTrace:
    """Watch a model while it computes a given translation.

    The model is left as it is: its modules are watched by hooks, which are gone afterwards.

    Args:
        transformer: The model, not in training mode.
        source: The tokens of a sentence, EOS included.
        target: The tokens of its translation, beginning with BOS.
    """
    with _watching(transformer) as calls:
        maps = read_attention(transformer, source, target)
    ((_, logits),) = calls[transformer]
    ((_, memory),) = calls[transformer.encoder]
    ((states, _),) = calls[transformer.projection]
    (embedded_source, _), (embedded_target, _) = calls[transformer.positions]
    return StreamTrace(
        encoder=StackTrace(
            embedded=_array(embedded_source),
            positions=_array(transformer.positions(torch.zeros_like(embedded_source))),
            layers=_layers(transformer.encoder.blocks, {"self_attention": maps.encoder}, calls),
            output=_array(memory),
        ),
        decoder=StackTrace(
            embedded=_array(embedded_target),
            positions=_array(transformer.positions(torch.zeros_like(embedded_target))),
            layers=_layers(
                transformer.decoder.blocks,
                {"self_attention": maps.decoder, "cross_attention": maps.cross},
                calls,
            ),
            output=_array(states),
        ),
        logits=_array(logits),
    )


@contextmanager
def _watching(transformer: Transformer) -> Iterator[Calls]:
    """Record what goes into each module and what comes out."""
    calls: Calls = {module: [] for module in transformer.modules()}

    def keep(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        calls[module].append((arguments[0], output))

    with ExitStack() as hooks:
        for module in calls:
            hooks.enter_context(module.register_forward_hook(keep))
        yield calls


def _layers(
    blocks: nn.ModuleList, attentions: Mapping[SublayerKind, tuple[Map, ...]], calls: Calls
) -> tuple[tuple[SublayerTrace, ...], ...]:
    """Read the layers of a stack from the calls of its modules."""
    return tuple(
        (
            *(_sublayer(block, kind, calls, maps[layer]) for kind, maps in attentions.items()),
            _sublayer(block, "feed_forward", calls, None),
        )
        for layer, block in enumerate(blocks)
    )


def _sublayer(
    block: nn.Module, kind: SublayerKind, calls: Calls, weights: Map | None
) -> SublayerTrace:
    """Read one sublayer; its output alone is what dropout, which does nothing here, is given."""
    around = block.get_submodule(f"around_{kind}")
    ((stream, _),) = calls[around]
    ((added, _),) = calls[around.get_submodule("dropout")]
    return SublayerTrace(
        kind=kind,
        stream=_array(stream),
        added=_array(added),
        weights=None if weights is None else weights.cpu().numpy(),
    )


def _array(tensor: Tensor) -> Array:
    """Move the only row of a batch to the host."""
    array: Array = tensor[0].cpu().numpy()
    return array
