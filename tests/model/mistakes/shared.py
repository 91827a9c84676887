"""What the checks of all mistakes use."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.model.transformer import Transformer

Build = Callable[..., Transformer]
"""Builds a small model; settings change its configuration."""

Check = Callable[[Build], None]

Mistake = tuple[str, Any, str, Any, Check]
"""Where it was seen; whose attribute is replaced, its name and by what; what notices."""

SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [14, 5, 3, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 0, 0], [2, 5, 16, 7, 8]])


def differ(one: Tensor, other: Tensor) -> bool:
    """Tell whether two results are further apart than rounding."""
    return not torch.allclose(one, other, atol=1e-5, rtol=0)
