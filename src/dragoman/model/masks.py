"""Where attention may look (sections 3.1 and 3.2.3). True is visible."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

SourceMask = Bool[Tensor, "_rows 1 _targets _source"]
TargetMask = Bool[Tensor, "_rows 1 _targets _places"]


def padding_mask(
    tokens: Int[Tensor, "batch length"], padding_id: int
) -> Bool[Tensor, "batch 1 1 length"]:
    """Hide padding.

    The first position is always visible: a row of nothing but padding must see something, or its
    softmax is NaN and poisons every gradient of the batch.
    """
    visible = tokens != padding_id
    visible[:, 0] = True
    return visible[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 query query"]:
    """Hide the future: position i sees the positions 0 ... i.

    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device).tril()
