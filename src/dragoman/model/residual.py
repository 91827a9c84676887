"""Residual connections (sections 3.1 and 5.4)."""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.dropout import Dropout
from dragoman.model.layer_norm import LayerNormalization, ScalarLayerNormalization


def build_norm(config: TransformerConfig) -> LayerNormalization | ScalarLayerNormalization:
    """Build a layer norm of the kind that the configuration names."""
    if config.layer_norm == "scalar":
        return ScalarLayerNormalization(epsilon=config.layer_norm_epsilon)
    return LayerNormalization(config.d_model, epsilon=config.layer_norm_epsilon)


class ResidualConnection(nn.Module):
    """Carry x around a sublayer: the "Add & Norm" of figure 1.

    after:   norm(x + dropout(sublayer(x)))      the paper
    before:  x + dropout(sublayer(norm(x)))      learners' guides, and most models since 2018;
                                                 the stack needs one more norm at its end
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.where: Literal["before", "after"] = config.norm
        self.norm = build_norm(config)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch length d_model"]:
        if self.where == "before":
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
