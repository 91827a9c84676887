"""The most probable tokens of a large vocabulary."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 64
"""Neighbouring tokens that are looked at together."""


def top_tokens(
    scores: Float[Tensor, "*rows vocab"], count: int
) -> tuple[Float[Tensor, "*rows count"], Int[Tensor, "*rows count"]]:
    """Take the best scores of each row and their tokens; the result depends on the row alone.

    `topk` of a vocabulary of thousands costs more than the projection to it. The maxima of
    blocks are cheap, and the best tokens are in the blocks with the best maxima: any other block is
    surpassed by at least `count` tokens.
    """
    num_blocks = scores.size(-1) // BLOCK
    if num_blocks <= 2 * count:
        return scores.topk(count, dim=-1)
    in_blocks = scores[..., : num_blocks * BLOCK].unflatten(-1, (num_blocks, BLOCK))
    blocks = in_blocks.amax(dim=-1).topk(count, dim=-1).indices
    tokens = blocks[..., None] * BLOCK + torch.arange(BLOCK, device=scores.device)
    rest = torch.arange(num_blocks * BLOCK, scores.size(-1), device=scores.device)
    tokens = torch.cat([tokens.flatten(start_dim=-2), rest.expand(*scores.shape[:-1], -1)], dim=-1)
    best, places = scores.gather(-1, tokens).topk(count, dim=-1)
    return best, tokens.gather(-1, places)
