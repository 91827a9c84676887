"""Input embeddings (section 3.4)."""

import copy
import math

from jaxtyping import Float, Int
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    """Look up the vector of each token, and multiply it by sqrt(d_model).

    The table is initialised with variance 1 / d_model, so that the scaled vectors have unit
    variance, the same order of magnitude as the sinusoids that are added to them. The row of the
    padding token is zero, and the look-up gives it no gradient.
    """

    def __init__(self, vocab_size: int, d_model: int, *, padding_id: int) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Embedding(vocab_size, d_model, padding_idx=padding_id)

    def sharing(self) -> "InputEmbeddings":
        """Return another module with the same table.

        The same module under two names would do, but `torch.func.functional_call` puts weights back
        name by name, and would leave the substitute under one of them.
        """
        return copy.deepcopy(self, {id(self.table.weight): self.table.weight})

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length d_model"]:
        return self.table(tokens) * self.scale
