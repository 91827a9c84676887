"""Residual connections (sections 3.1 and 5.4)."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.dropout import Dropout
from dragoman.model.layer_norm import LayerNormalization, ScalarLayerNormalization

Sublayer = Callable[[Tensor], Tensor]
"""From vectors of shape (batch, length, d_model) to others of that shape."""


def build_norm(config: TransformerConfig) -> LayerNormalization | ScalarLayerNormalization:
    """Build a layer norm of the kind that the configuration names."""
    if config.layer_norm == "scalar":
        return ScalarLayerNormalization(epsilon=config.layer_norm_epsilon)
    return LayerNormalization(config.d_model, epsilon=config.layer_norm_epsilon)


class ResidualConnection(nn.Module):
    """Carry x around a sublayer: the "Add & Norm" of figure 1, in one of two orders."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm = build_norm(config)
        self.dropout = Dropout(config.dropout)


class NormAfter(ResidualConnection):
    """norm(x + dropout(sublayer(x))): the paper."""

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Sublayer
    ) -> Float[Tensor, "batch length d_model"]:
        return self.norm(x + self.dropout(sublayer(x)))


class NormBefore(ResidualConnection):
    """x + dropout(sublayer(norm(x))): learners' guides, and most large models since GPT-2.

    The stack needs one more norm at its end.
    """

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Sublayer
    ) -> Float[Tensor, "batch length d_model"]:
        return x + self.dropout(sublayer(self.norm(x)))


def build_residual(config: TransformerConfig) -> ResidualConnection:
    """Build a residual connection with its norm where the configuration says."""
    return NormBefore(config) if config.norm == "before" else NormAfter(config)
