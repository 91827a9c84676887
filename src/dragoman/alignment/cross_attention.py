"""The cross-attention of whole batches, for given translations."""

from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.attention import attention_weights
from dragoman.model.transformer import Transformer


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
    layers: list[Tensor] = []
    hooks = [
        block.get_submodule("cross_attention.attention").register_forward_pre_hook(
            partial(_keep_weights, layers)
        )
        for block in transformer.decoder.blocks
    ]
    try:
        with torch.inference_mode():
            transformer.states(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(layers, dim=1)


def _keep_weights(layers: list[Tensor], module: nn.Module, arguments: tuple[Any, ...]) -> None:
    queries, keys, _, mask = arguments
    layers.append(attention_weights(queries, keys, mask))
