"""Where attention may look (sections 3.1 and 3.2.3). True is visible."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from dragoman.model.tile_attention import TILE

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


def sentences_in_a_tile(batch: int, queries: int, memory: int) -> int:
    """Choose how many sentences to lay side by side: 1, or more if they are short."""
    longest = max(queries, memory)
    fitting = [count for count in (1, 2, 4, 8) if count * longest <= TILE and batch % count == 0]
    return fitting[-1] if fitting else 1


def side_by_side(
    mask: Bool[Tensor, "batch 1 #queries memory"], queries: int
) -> Bool[Tensor, "rows 1 row_queries row_memory"]:
    """Lay as many sentences in a row as a tile holds; each sees only what it saw before.

    Two sentences that see everything of their own two tokens:

    >>> side_by_side(torch.ones(2, 1, 1, 2, dtype=torch.bool), queries=2)[0, 0].int()
    tensor([[1, 1, 0, 0],
            [1, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    batch, _, _, memory = mask.shape
    count = sentences_in_a_tile(batch, queries, memory)
    own = torch.eye(count, dtype=torch.bool, device=mask.device).view(count, 1, count, 1)
    of_row = mask.expand(-1, -1, queries, -1).reshape(-1, count, queries, 1, memory)
    rows = (of_row & own).view(-1, 1, count * queries, count * memory)
    return rows.clone()  # of a view, compiled blocks would check what it is a view of, too
