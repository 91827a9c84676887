"""The softmax of attention, in a form that a CPU computes fast."""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

REGISTER = 16
"""Single-precision numbers that a processor with AVX-512 computes with at once."""


def softmax(scores: Float[Tensor, "*rows length"]) -> Float[Tensor, "*rows length"]:
    """Compute exp(x) / sum(exp(x)) over the last dimension: `scores.softmax(dim=-1)`.

    Sentences are short, and PyTorch 2.13 computes rows that do not fill a register number by
    number, 4 to 8 times as slowly, forwards and backwards: rows of fewer than 16 in single
    precision, and of fewer than 32 in bf16. So everything is computed in single precision, and
    short rows are padded with minus infinity, which adds nothing to the sum. An exported graph does
    not pad: other programs give it rows of any length.
    """
    length = scores.size(-1)
    if not torch.compiler.is_exporting() and length < REGISTER:
        scores = F.pad(scores, (0, REGISTER - length), value=-math.inf)
    return scores.softmax(dim=-1, dtype=torch.float32)[..., :length].to(scores.dtype)
