"""Attention weights, read from a model while it computes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.attention import Mask, ScaledDotProductAttention, attention_weights


def weights_of(
    attention: nn.Module,
    queries: Float[Tensor, "batch heads query d_k"],
    keys: Float[Tensor, "batch heads memory d_k"],
    values: Float[Tensor, "batch heads memory d_k"],
    mask: Mask | None,
) -> Float[Tensor, "batch heads query memory"]:
    """Return what an attention multiplies the values by.

    Ours is computed once more, as far as the weights. Any other is asked for the weighted means of
    one-hot values, which are its weights, whatever it does to find them.
    """
    if type(attention) is ScaledDotProductAttention:
        return attention_weights(queries, keys, mask)
    memory, d_k = values.shape[-2:]
    one_hot = torch.eye(memory, dtype=values.dtype, device=values.device)
    room = F.pad(one_hot, (0, -memory % d_k)).split(d_k, dim=1)  # for as many as values hold
    parts = [attention.forward(queries, keys, some.expand_as(values), mask) for some in room]
    return torch.cat(parts, dim=-1)[..., :memory]


@contextmanager
def watched_attention(blocks: Iterable[nn.Module], name: str) -> Iterator[list[Tensor]]:
    """Collect the weights of a stack while it computes, one tensor for each block.

    The model is left as it is: the hooks that watch it are gone afterwards.

    Args:
        blocks: Those of the encoder or the decoder.
        name: "self_attention" or "cross_attention".

    Yields:
        Weights of shape (batch, heads, query, memory), before dropout.
    """
    weights: list[Tensor] = []

    def keep(module: nn.Module, arguments: tuple[Any, ...]) -> None:
        weights.append(weights_of(module, *arguments))

    with ExitStack() as hooks:
        for block in blocks:
            attention = block.get_submodule(f"{name}.attention")
            hooks.enter_context(attention.register_forward_pre_hook(keep))
        yield weights
