"""What attends to what in a model, for one translation."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.model.watched_attention import watched_attention

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

    Args:
        transformer: The model, not in training mode.
        source: The tokens of a sentence, EOS included.
        target: The tokens of its translation, beginning with BOS.
    """
    device = next(transformer.parameters()).device
    with (
        watched_attention(transformer.encoder.blocks, "self_attention") as encoder,
        watched_attention(transformer.decoder.blocks, "self_attention") as decoder,
        watched_attention(transformer.decoder.blocks, "cross_attention") as cross,
        torch.no_grad(),
    ):
        transformer(torch.tensor([source], device=device), torch.tensor([target], device=device))
    return AttentionMaps(
        encoder=tuple(weights[0] for weights in encoder),
        decoder=tuple(weights[0] for weights in decoder),
        cross=tuple(weights[0] for weights in cross),
    )
