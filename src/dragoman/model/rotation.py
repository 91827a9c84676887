"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864, section 3.2): rotated, not added.

The 2017 paper adds each token's position to its embedding once. Here nothing is added: in each
self-attention layer, queries and keys are rotated by angles that grow with their positions. A dot
product does not change when both vectors are rotated by the same angle, so all that it sees of two
positions is how far apart they are, and on which side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Complex, Float
from torch import Tensor

Heads = Float[Tensor, "batch heads length d_k"]

Rotate = Callable[[Heads], Heads]
"""Rotates queries or keys, each by the angles of its position."""


def unrotated(heads: Heads) -> Heads:
    """Leave queries and keys as they are, as in the 2017 paper."""
    return heads


@dataclass(frozen=True)
class Rotation:
    """Rotate each pair of dimensions (2i, 2i + 1) by its angle, pos / 10000^(2i / d_k)."""

    sines: Float[Tensor, "length pairs"]
    cosines: Float[Tensor, "length pairs"]

    def equation(self, heads: Heads) -> Heads:
        """Compute it as written (equation 15)."""
        x, y = heads.unflatten(-1, (-1, 2)).unbind(dim=-1)
        turned = (x * self.cosines - y * self.sines, x * self.sines + y * self.cosines)
        return torch.stack(turned, dim=-1).flatten(start_dim=-2).type_as(heads)

    def __call__(self, heads: Heads) -> Heads:
        """Compute the same as a product of complex numbers, (x + iy) e^(i angle).

        That is three passes over memory instead of eight; compilers do not know complex numbers.
        """
        if torch.compiler.is_compiling():
            return self.equation(heads)
        pairs = torch.view_as_complex(heads.float().unflatten(-1, (-1, 2)))
        turned = pairs * self._turns
        return torch.view_as_real(turned).flatten(start_dim=-2).type_as(heads)

    @cached_property
    def _turns(self) -> Complex[Tensor, "length pairs"]:
        """The angles as complex numbers, the same for all layers."""
        return torch.complex(self.cosines, self.sines)
