"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864, section 3.2): turned, not added.

The paper of 2017 adds each token's position to its embedding once. Here nothing is added: in each
self-attention, queries and keys are turned by angles that grow with their positions. A dot product
does not change when both its vectors are turned by the same angle, so of two positions only their
distance shows in it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float
from torch import Tensor

Heads = Float[Tensor, "batch heads length d_head"]

Rotate = Callable[[Heads], Heads]
"""Turns queries or keys, each by the angles of its position."""


def unrotated(heads: Heads) -> Heads:
    """Leave queries and keys as they are, as in the paper of 2017."""
    return heads


@dataclass(frozen=True)
class Rotation:
    """Turn each pair of dimensions (2i, 2i + 1) by its angle, pos / 10000^(2i / d_head).

    The pair is read as the complex number x + iy, and turned by a product with e^(i angle): what
    the two sums of products with sine and cosine come to, in one pass through the memory.
    """

    turns: Complex[Tensor, "length pairs"]

    def __call__(self, heads: Heads) -> Heads:
        pairs = torch.view_as_complex(heads.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * self.turns).flatten(start_dim=-2).type_as(heads)
