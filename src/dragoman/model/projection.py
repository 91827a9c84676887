"""From the decoder's states to the vocabulary (section 3.4)."""

from jaxtyping import Float
from torch import Tensor, nn


class Projection(nn.Module):
    """A logit for each entry of the vocabulary.

    It returns logits, not log-probabilities: the loss and the search take the log-softmax where
    they need it, once.
    """

    def __init__(self, d_model: int, vocab_size: int, *, bias: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(d_model, vocab_size, bias=bias)

    def tie(self, table: nn.Embedding) -> None:
        """Share the matrix with an embedding table, "similar to [30]" in the paper's words."""
        self.linear.weight = table.weight

    def forward(self, states: Float[Tensor, "... d_model"]) -> Float[Tensor, "... vocab"]:
        return self.linear(states)
