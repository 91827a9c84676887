"""The order of the dimensions of the residual stream, which is arbitrary.

All that a block reads and writes is d_model wide, and nothing but the positional encoding says
which dimension is which. So a model of one convention is, reordered, a model of another.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Int
from torch import Tensor

_BY_COLUMN = (
    "table.weight",
    "query_projection.weight",
    "key_projection.weight",
    "value_projection.weight",
    "widen.weight",
    "projection.linear.weight",
)
"""What reads the residual stream, and the tables, whose rows are added to it."""

_BY_ROW = (
    "output_projection.weight",
    "output_projection.bias",
    "narrow.weight",
    "narrow.bias",
    "norm.gain",
    "norm.bias",
)
"""What writes the residual stream, and the norms, which work on it feature by feature."""


def sines_first(d_model: int) -> Int[Tensor, " d_model"]:
    """Return the order that turns the interleaved positional encoding into Marian's.

    >>> sines_first(6)
    tensor([0, 2, 4, 1, 3, 5])
    """
    return torch.arange(d_model).view(-1, 2).t().flatten()


def reorder(weights: Mapping[str, Tensor], order: Int[Tensor, " d_model"]) -> dict[str, Tensor]:
    """Put the dimensions of the residual stream into another order; the function is the same.

    Args:
        weights: All those of a `Transformer` with a layer norm of the kind `per_feature`.
        order: For each new position, the old one.
    """
    return {
        name: weight[..., order]
        if name.endswith(_BY_COLUMN)
        else weight[order]
        if name.endswith(_BY_ROW)
        else weight
        for name, weight in weights.items()
    }
