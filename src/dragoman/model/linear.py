"""A matrix product whose rows do not depend on how many there are."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

FEW_ROWS = 64
"""With fewer rows, a CPU may choose another way to add up."""

ROWS_AT_ONCE = 4


def linear(
    x: Float[Tensor, "*rows inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, " outputs"] | None = None,
) -> Float[Tensor, "*rows outputs"]:
    """Compute x W^T + b, each row as it would be computed among others.

    A sentence may be translated alone or in a batch, and its rounding should not depend on which.
    PyTorch 2.13's library for matrix products on CPUs (MKL) gives a single-precision row the same
    result in any batch, except, on some processors, for the rows left over after groups of four in
    a batch of fewer than about a dozen. So small batches are padded to a multiple of four. A
    compiled or exported graph takes any number of rows.
    """
    if x.dtype != torch.float32 or x.is_cuda or torch.compiler.is_compiling():
        return F.linear(x, weight, bias)
    rows = x.shape[:-1].numel()
    lacking = -rows % ROWS_AT_ONCE
    if lacking == 0 or rows > FEW_ROWS:
        return F.linear(x, weight, bias)
    filled = F.pad(x.reshape(rows, -1), (0, 0, 0, lacking))
    return F.linear(filled, weight, bias)[:rows].view(*x.shape[:-1], -1)


def linears(
    x: Float[Tensor, "*rows inputs"], *layers: nn.Linear
) -> tuple[Float[Tensor, "*rows _outputs"], ...]:
    """Apply several layers with biases to the same vectors.

    Compiled, it is one product with all their matrices: a GPU, for which each alone is too small,
    takes less time, and adds up fewer gradients.
    """
    if not torch.compiler.is_dynamo_compiling():
        return tuple(layer(x) for layer in layers)
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    return F.linear(x, weight, bias).split([layer.out_features for layer in layers], dim=-1)


@torch.library.custom_op("dragoman::linear_relu", mutates_args=())
def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute max(0, x W^T + b) as one product.

    A GPU's library takes the maximum before it stores a sum; compilers read all sums again for
    that, and PyTorch knows no gradient of such a product.
    """
    rows = x.flatten(end_dim=-2)
    return torch._addmm_activation(bias, rows, weight.t()).view(*x.shape[:-1], -1)


@linear_relu.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x.new_empty(*x.shape[:-1], len(bias))


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    x, weight, _ = inputs
    ctx.save_for_backward(x, weight, output)


def _go_back(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
    x, weight, output = ctx.saved_tensors
    of_sums = (gradient * (output > 0)).flatten(end_dim=-2)
    of_x = (of_sums @ weight).view_as(x)
    return of_x, of_sums.t() @ x.flatten(end_dim=-2), of_sums.sum(dim=0)


linear_relu.register_autograd(_go_back, setup_context=_keep)


class Linear(nn.Linear):
    """`torch.nn.Linear`, computed by `linear`."""

    def forward(self, x: Float[Tensor, "*rows inputs"]) -> Float[Tensor, "*rows outputs"]:
        return linear(x, self.weight, self.bias)
