"""The decoder, right half of figure 1 (section 3.1)."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.decoder_state import BlockState, DecoderState
from dragoman.model.feed_forward import FeedForward
from dragoman.model.masks import SourceMask, TargetMask
from dragoman.model.residual import build_norm, build_residual
from dragoman.model.rotation import Rotate, unrotated


class DecoderBlock(nn.Module):
    """Look at the target so far, then at the source, then think."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention, self.cross_attention = (
            MultiHeadAttention(config.d_model, config.num_heads, dropout=config.attention_dropout)
            for _ in range(2)
        )
        self.feed_forward = FeedForward(
            config.d_model,
            config.d_ff,
            activation=config.activation,
            dropout=config.feed_forward_dropout,
        )
        self.around_self_attention = build_residual(config)
        self.around_cross_attention = build_residual(config)
        self.around_feed_forward = build_residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        target_mask: TargetMask,
        source_mask: SourceMask | None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute all positions of the target at once, as training does."""

        def attend_to_target(x: Tensor) -> Tensor:
            return self.self_attention(x, mask=target_mask, rotate=rotate)

        def attend_to_source(x: Tensor) -> Tensor:
            return self.cross_attention(x, self.cross_attention.project(memory), source_mask)

        x = self.around_self_attention(x, attend_to_target)
        x = self.around_cross_attention(x, attend_to_source)
        return self.around_feed_forward(x, self.feed_forward)

    def advance(
        self,
        x: Float[Tensor, "batch prefixes d_model"],
        state: BlockState,
        target_mask: TargetMask,
        source_mask: SourceMask | None,
        rotate: Rotate = unrotated,
    ) -> tuple[Float[Tensor, "batch prefixes d_model"], BlockState]:
        """Compute the same for the last token of each prefix; the state covers those before it."""
        cache = state.target

        def attend_to_target(x: Tensor) -> Tensor:
            nonlocal cache  # x may be normed first, so what is cached of it is known only in here
            newer = self.self_attention.project(x, rotate)
            cache = newer if cache is None else cache.append(newer)
            return self.self_attention(x, cache, target_mask, rotate)

        def attend_to_source(x: Tensor) -> Tensor:
            return self.cross_attention(x, state.source, source_mask)

        x = self.around_self_attention(x, attend_to_target)
        x = self.around_cross_attention(x, attend_to_source)
        return self.around_feed_forward(x, self.feed_forward), BlockState(state.source, cache)


class Decoder(nn.Module):
    """A stack of N decoder blocks; if norms come before sublayers, one more norm at the end.

    `forward` computes all positions at once, in training; a search begins with `start` and goes on
    with `advance`, one position at a time.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_decoder_layers))
        self.norm = build_norm(config) if config.norm == "before" else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        target_mask: TargetMask,
        source_mask: SourceMask | None,
        rotate: Rotate = unrotated,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the state at each position of the target, which may see those up to it."""
        for block in self.blocks:
            x = block(x, memory, target_mask, source_mask, rotate)
        return self.norm(x)

    def start(
        self, memory: Float[Tensor, "batch source d_model"], source_mask: SourceMask
    ) -> DecoderState:
        """Project the encoded source once for each block; no target token is seen yet."""
        blocks = tuple(
            BlockState(block.cross_attention.project(memory).laid_out()) for block in self._blocks()
        )
        nothing = torch.zeros(len(memory), 1, 0, dtype=torch.bool, device=memory.device)
        return DecoderState(blocks, source_mask, length=0, visible=nothing)

    def advance(
        self,
        x: Float[Tensor, "batch prefixes d_model"],
        state: DecoderState,
        rotate: Rotate = unrotated,
    ) -> tuple[Float[Tensor, "batch prefixes d_model"], DecoderState]:
        """Compute the states at the last token of each prefix, which `state.extend` has added.

        An exported graph has several tokens of one prefix in their place.
        """
        states, target_mask = [], state.mask
        for block, block_state in zip(self._blocks(), state.blocks, strict=True):
            x, newer = block.advance(x, block_state, target_mask, state.source_mask, rotate)
            states.append(newer)
        return self.norm(x), replace(state, blocks=tuple(states))

    def _blocks(self) -> Iterator[DecoderBlock]:
        """Yield the blocks, whose type a ModuleList does not know."""
        for block in self.blocks:
            assert isinstance(block, DecoderBlock)
            yield block
