"""Position-wise feed-forward network (section 3.3)."""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.dropout import Dropout
from dragoman.model.linear import Linear, linear_relu

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
}


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W1 + b1) W2 + b2, equation 2, at each position on its own."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Literal["relu", "gelu", "silu"] = "relu",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.widen = Linear(d_model, d_ff)
        self.narrow = Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        return self.narrow(self.dropout(self._hidden(x)))

    def _hidden(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_ff"]:
        if torch.compiler.is_dynamo_compiling() and x.is_cuda and self.activation is F.relu:
            return linear_relu(x, self.widen.weight, self.widen.bias)
        return self.activation(self.widen(x))
