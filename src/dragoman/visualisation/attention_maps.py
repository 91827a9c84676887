"""What attends to what, read from a model while it computes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention, attention_weights
from dragoman.model.decoder import DecoderBlock
from dragoman.model.encoder import EncoderBlock
from dragoman.model.transformer import Transformer

Map = Float[Tensor, "heads query memory"]


@dataclass(frozen=True, kw_only=True)
class AttentionMaps:
    """The attention weights of one translation, before dropout: a map for each layer.

    Each row of a map sums to one. The source ends with EOS. The target begins with BOS, so that
    row i of a decoder's map is what the model looked at to choose token i of the translation.
    """

    encoder: tuple[Map, ...]
    """Self-attention of the encoder's layers; source by source."""

    decoder: tuple[Map, ...]
    """Self-attention of the decoder's layers; target by target."""

    cross: tuple[Map, ...]
    """Attention of the decoder's layers to the source; target by source."""


def read_attention(
    transformer: Transformer, source: Sequence[int], target: Sequence[int]
) -> AttentionMaps:
    """Read every attention weight while a model computes a given translation.

    The model is left as it is: its modules are watched by hooks, which are gone afterwards.

    Args:
        transformer: The model, not in training mode.
        source: The tokens of a sentence, EOS included.
        target: The tokens of its translation, beginning with BOS.
    """
    kinds: dict[str, list[Map]] = {"encoder": [], "decoder": [], "cross": []}
    hooks = [
        attention.attention.register_forward_pre_hook(partial(_keep_weights, kinds[kind]))
        for kind, attention in _attentions(transformer)
    ]
    device = next(transformer.parameters()).device
    try:
        with torch.no_grad():
            transformer(
                torch.tensor([source], device=device), torch.tensor([target], device=device)
            )
    finally:
        for hook in hooks:
            hook.remove()
    return AttentionMaps(**{kind: tuple(maps) for kind, maps in kinds.items()})


def _attentions(transformer: Transformer) -> list[tuple[str, MultiHeadAttention]]:
    found: list[tuple[str, MultiHeadAttention]] = []
    for block in transformer.encoder.blocks:
        assert isinstance(block, EncoderBlock)
        found.append(("encoder", block.self_attention))
    for block in transformer.decoder.blocks:
        assert isinstance(block, DecoderBlock)
        found += [("decoder", block.self_attention), ("cross", block.cross_attention)]
    return found


def _keep_weights(maps: list[Map], module: nn.Module, arguments: tuple[Any, ...]) -> None:
    """Compute again what the module is about to compute, without its dropout."""
    queries, keys, _, mask = arguments
    maps.append(attention_weights(queries, keys, mask)[0])
