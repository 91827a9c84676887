"""Many weights in another number format at once, and their gradients back again."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dragoman.batched import batched

AT_ONCE = 32
"""About as many as two blocks have; their gradients are in memory together."""


def cast(weights: Sequence[Tensor], dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Do what `weight.to(dtype)` does for each of some weights of one number format.

    For a GPU, a model has hundreds of weights too small to keep it busy: cast one by one, with
    their gradients, they took a twentieth of an update.
    """
    parts: list[tuple[Tensor, ...]] = [
        _Cast.apply(dtype, *part)  # type: ignore[no-untyped-call]
        for part in batched(weights, AT_ONCE)
    ]
    return tuple(copy for part in parts for copy in part)


class _Cast(torch.autograd.Function):
    """The gradient of a cast is cast back."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.dtype = weights[0].dtype
        return _copies(weights, dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_copies(gradients, ctx.dtype)


def _copies(tensors: Sequence[Tensor], dtype: torch.dtype) -> tuple[Tensor, ...]:
    copies = [torch.empty_like(tensor, dtype=dtype) for tensor in tensors]
    torch._foreach_copy_(copies, list(tensors))
    return tuple(copies)
