"""The cross-attention of whole batches, for given translations."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.model.watched_attention import watched_attention


def read_cross_attention(
    transformer: Transformer,
    source: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch target"],
) -> Float[Tensor, "batch layers heads target source"]:
    """Read what each target position looks at to choose the token after it.

    Args:
        transformer: The model, not in training mode.
        source: Sentences with EOS, padded on the right.
        target: Translations with BOS and without EOS, padded on the right.
    """
    blocks = transformer.decoder.blocks
    with watched_attention(blocks, "cross_attention") as layers, torch.inference_mode():
        transformer.states(source, target)
    return torch.stack(layers, dim=1)
