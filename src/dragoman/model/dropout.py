"""Dropout (section 5.4), fast where random numbers are the bottleneck."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 256  # one random byte decides for each element


class Dropout(nn.Module):
    """Zero each element with probability `rate` in training, and scale the others up to match.

    On a CPU the rate is rounded to the nearest 1/256, because one random byte is drawn for each
    element instead of one float: the plain form, `torch.nn.functional.dropout`, takes longer there
    than the matrix products of a small model. What is kept is divided by the rounded probability,
    so the expectation is as exact as the number format (in bf16 to 1/256). Compiled blocks do the
    same on a GPU as well, where a compiler would draw each float by itself, which takes longer.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        if not self.training or self.rate == 0.0:
            return x
        dropped_levels = min(round(self.rate * LEVELS), LEVELS - 1)
        keep = LEVELS / (LEVELS - dropped_levels)
        if torch.compiler.is_compiling():
            return x * ((random_bytes(x) >= dropped_levels).type_as(x) * keep)
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        # Straight to numbers: booleans first, converted to numbers, take four times as long.
        kept = torch.ge(_random_bytes(x), dropped_levels, out=torch.empty_like(x))
        return x * kept.mul_(keep)

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def _random_bytes(like: Tensor) -> Tensor:
    """Draw a byte for each element; they are generated eight at a time, as 64-bit words."""
    num_words = (like.numel() + 7) // 8
    words = torch.empty(num_words, dtype=torch.int64, device=like.device).random_(-(2**63), None)
    return words.view(torch.uint8)[: like.numel()].view(like.shape)


@torch.library.custom_op(
    "dragoman::random_bytes", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,)
)
def random_bytes(like: Tensor) -> Tensor:
    """Do the same in one piece, for a compiler, which would draw 64-bit words one by one.

    Of two calls for one tensor it keeps one, so each dropout in a block needs a tensor of its own.
    """
    return _random_bytes(like)


@random_bytes.register_fake
def _(like: Tensor) -> Tensor:
    return torch.empty(like.shape, dtype=torch.uint8, device=like.device)
