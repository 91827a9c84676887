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
PADDING = 0


def differ(one: Tensor, other: Tensor) -> bool:
    """Tell whether two results are further apart than rounding."""
    return not torch.allclose(one, other, atol=1e-5, rtol=0)


def check_token_by_token_equals_training(build: Build) -> None:
    model = build()
    state = model.start(SOURCE)
    target = TARGET.masked_fill(TARGET == PADDING, 11)
    for position, expected in enumerate(model(SOURCE, target).unbind(dim=1)):
        logits, state = model.step(target[:, [position]], state)
        assert not differ(logits[:, 0], expected)


def weights_with(
    scores: Callable[[Tensor, Tensor], Tensor], hide: Callable[[Tensor, Tensor], Tensor]
) -> Callable[..., Tensor]:
    """Make attention weights from a score function and a way to hide."""

    def weights(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        result = scores(queries, keys)
        return (result if mask is None else hide(result, mask)).softmax(dim=-1)

    return weights
