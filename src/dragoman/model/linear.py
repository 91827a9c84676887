"""A matrix product whose rows do not depend on how many there are."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

FEW_ROWS = 64
"""Below it a CPU may choose another way to add up."""

ROWS_AT_ONCE = 4


def linear(
    x: Float[Tensor, "*rows inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, " outputs"] | None = None,
) -> Float[Tensor, "*rows outputs"]:
    """Compute x W^T + b, each row as it would be computed among others.

    A sentence is translated alone and in batches, and its rounding should not depend on which. The
    library of PyTorch 2.13 for products on CPUs (MKL) gives a row of single precision the same
    result in any batch, except, on some processors, the rows that are left over after groups of
    four in a batch of fewer than about a dozen. So small batches are filled up to a multiple of
    four. A graph that is compiled or exported takes any number of rows.
    """
    if x.dtype != torch.float32 or x.is_cuda or torch.compiler.is_compiling():
        return F.linear(x, weight, bias)
    rows = x.shape[:-1].numel()
    lacking = -rows % ROWS_AT_ONCE
    if lacking == 0 or rows > FEW_ROWS:
        return F.linear(x, weight, bias)
    filled = F.pad(x.reshape(rows, -1), (0, 0, 0, lacking))
    return F.linear(filled, weight, bias)[:rows].view(*x.shape[:-1], -1)


class Linear(nn.Linear):
    """`torch.nn.Linear` by `linear`."""

    def forward(self, x: Float[Tensor, "*rows inputs"]) -> Float[Tensor, "*rows outputs"]:
        return linear(x, self.weight, self.bias)
