"""From the decoder's states to the vocabulary (section 3.4)."""

from collections.abc import Callable
from functools import partial

from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.linear import Linear, linear

Project = Callable[[Tensor], Tensor]
"""From states of shape (..., d_model) to logits of shape (..., tokens)."""


class Projection(nn.Module):
    """A logit for each entry of the vocabulary.

    It returns logits, not log-probabilities: the loss and the search take the log-softmax where
    they need it, once.
    """

    def __init__(self, d_model: int, vocab_size: int, *, bias: bool = False) -> None:
        super().__init__()
        self.linear = Linear(d_model, vocab_size, bias=bias)

    def tie(self, table: nn.Embedding) -> None:
        """Share the matrix with an embedding table, "similar to [30]" in the paper's words."""
        self.linear.weight = table.weight

    def forward(self, states: Float[Tensor, "... d_model"]) -> Float[Tensor, "... vocab"]:
        return self.linear(states)

    def narrow(self, tokens: Int[Tensor, " kept"]) -> Project:
        """Return the projection to these entries of the vocabulary alone, in this order."""
        bias = None if self.linear.bias is None else self.linear.bias[tokens]
        return partial(linear, weight=self.linear.weight[tokens], bias=bias)
