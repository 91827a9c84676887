"""Attention weights, read from a model while it computes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from dragoman.model.attention import attention_weights


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
        queries, keys, _, mask = arguments
        weights.append(attention_weights(queries, keys, mask))

    with ExitStack() as hooks:
        for block in blocks:
            attention = block.get_submodule(f"{name}.attention")
            hooks.enter_context(attention.register_forward_pre_hook(keep))
        yield weights
