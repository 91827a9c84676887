"""The encoder, left half of figure 1 (section 3.1)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dragoman.model.attention import Mask, MultiHeadAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.feed_forward import FeedForward
from dragoman.model.residual import build_norm, build_residual
from dragoman.model.rotation import Rotate, unrotated


class EncoderBlock(nn.Module):
    """Let every source position look at all the others, then think on its own."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(
            config.d_model, config.num_heads, dropout=config.attention_dropout
        )
        self.feed_forward = FeedForward(
            config.d_model,
            config.d_ff,
            activation=config.activation,
            dropout=config.feed_forward_dropout,
        )
        self.around_self_attention = build_residual(config)
        self.around_feed_forward = build_residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch source d_model"],
        mask: Mask | None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch source d_model"]:
        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, mask=mask, rotate=rotate)

        x = self.around_self_attention(x, attend)
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """A stack of N encoder blocks; if norms come before sublayers, one more norm at the end."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(config.num_encoder_layers))
        self.norm = build_norm(config) if config.norm == "before" else nn.Identity()

    @property
    def dtype(self) -> torch.dtype:
        """The number format of its matrix products."""
        first = self.blocks[0]
        assert isinstance(first, EncoderBlock)  # the type of a ModuleList's items is lost
        return first.feed_forward.widen.weight.dtype

    def forward(
        self,
        x: Float[Tensor, "batch source d_model"],
        mask: Mask | None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch source d_model"]:
        for block in self.blocks:
            x = block(x, mask, rotate)
        return self.norm(x)
