"""All weights of a model in another number format at once, and their gradients back again."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def cast(weights: Sequence[Tensor], dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Do what `weight.to(dtype)` does for each of some weights of one number format.

    For a GPU, a model has hundreds of weights too small to keep it busy: cast one by one, with
    their gradients, they took a twentieth of an update.
    """
    found: tuple[Tensor, ...] = _Cast.apply(dtype, *weights)  # type: ignore[no-untyped-call]
    return found


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
