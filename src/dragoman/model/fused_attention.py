"""Attention on a GPU: in one kernel, and short sentences side by side in its rows."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from dragoman.model.few_queries import are_few, attend_with_few
from dragoman.model.tile_attention import TILE, attend, is_one_tile


def attend_in_one_kernel(
    queries: Float[Tensor, "batch heads query d_k"],
    keys: Float[Tensor, "batch heads memory d_k"],
    values: Float[Tensor, "batch heads memory d_v"],
    mask: Bool[Tensor, "_rows _heads _queries _memory"] | None,
    *,
    dropout: float = 0.0,
    training: bool = False,
) -> Float[Tensor, "batch heads query d_v"]:
    """Compute softmax(Q K^T / sqrt(d_k)) V, equation 1, without its weights in a GPU's memory.

    Which kernel: one of our own for compiled trainings with short sentences, one for the few
    queries of a search, PyTorch's for all else.

    Args:
        queries: What looks.
        keys: What it compares itself with.
        values: What it takes.
        mask: Of each sentence, of all, or of rows of several, as `side_by_side` makes it.
        dropout: The rate at which weights are dropped.
        training: Whether gradients will be asked for.
    """
    batch = rows = len(queries)
    # A mask of one row is one for all, unless it is wider than a sentence: then it is one of
    # `side_by_side`, for a batch that fits into one row.
    if mask is not None and (mask.size(0) > 1 or mask.size(3) > keys.size(2)):
        rows = mask.size(0)
    q, k, v = (_in_rows(whole, rows) for whole in (queries, keys, values))
    # Triton needs a C compiler, which only compiled trainings have asked for.
    is_compiled_training = torch.compiler.is_compiling() and training
    if is_compiled_training and dropout == 0.0 and mask is not None and is_one_tile(q, mask):
        heads = attend(q, k, v, mask)
    elif mask is not None and are_few(q, mask):
        heads = attend_with_few(q, k, v, mask)
    else:
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    return _in_rows(heads, batch)


def _in_rows(
    sequences: Float[Tensor, "batch heads length d_k"], rows: int
) -> Float[Tensor, "rows heads row_length d_k"]:
    """Lay sequences side by side in so many rows, or take them apart again.

    Nothing is copied where positions lie one after the other in memory, as projections leave them.
    Compiled blocks do not ask whether there is anything to do: each answer would have code of its
    own.
    """
    if not torch.compiler.is_compiling() and len(sequences) == rows:
        return sequences
    positions = sequences.transpose(1, 2).flatten(end_dim=1)
    return positions.unflatten(0, (rows, -1)).transpose(1, 2)


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
