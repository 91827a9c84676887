"""A positional encoding that is not one of ours, as a researcher would put it into a model."""

import torch
from torch import Tensor, nn

from dragoman.model.positional_encoding import Position
from dragoman.model.rotation import Rotate, unrotated


class LearnedPositions(nn.Module):
    """Add a learned vector for each position; there are no sinusoids."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(300, d_model)

    def forward(self, x: Tensor, *, first_position: Position = 0) -> Tensor:
        positions = first_position + torch.arange(x.size(1), device=x.device)
        return x + self.table(positions).type_as(x)

    def rotation(self, length: int, *, first_position: Position = 0) -> Rotate:
        return unrotated
