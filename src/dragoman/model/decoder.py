"""The decoder, right half of figure 1 (section 3.1)."""

from dataclasses import dataclass, replace

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from dragoman.model.attention import KeysAndValues, MultiHeadAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.feed_forward import FeedForward
from dragoman.model.residual import ResidualConnection, build_norm

SourceMask = Bool[Tensor, "#batch 1 1 source"]
TargetMask = Bool[Tensor, "#batch 1 target seen"]


@dataclass(frozen=True)
class BlockState:
    """What one decoder block looks back at."""

    source: KeysAndValues
    target: KeysAndValues | None = None


@dataclass(frozen=True)
class DecoderState:
    """All that decoding must remember from one token to the next, as a value."""

    blocks: tuple[BlockState, ...]
    source_mask: SourceMask
    length: int = 0
    """Target tokens seen so far."""

    def select(self, rows: Int[Tensor, " kept"]) -> "DecoderState":
        """Keep these rows of the batch."""
        blocks = tuple(
            BlockState(block.source.select(rows), block.target and block.target.select(rows))
            for block in self.blocks
        )
        return replace(self, blocks=blocks, source_mask=self.source_mask.index_select(0, rows))

    def reorder(self, rows: Int[Tensor, " batch"]) -> "DecoderState":
        """Select rows that stand on the same source sentence as those they replace.

        A beam search does this after every token; the source side, which would come out equal,
        is not copied.
        """
        blocks = tuple(
            BlockState(block.source, block.target and block.target.select(rows))
            for block in self.blocks
        )
        return replace(self, blocks=blocks)


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
        self.around_self_attention = ResidualConnection(config)
        self.around_cross_attention = ResidualConnection(config)
        self.around_feed_forward = ResidualConnection(config)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        state: BlockState,
        target_mask: TargetMask | None,
        source_mask: SourceMask | None,
    ) -> tuple[Float[Tensor, "batch target d_model"], BlockState]:
        """Advance by the positions in x; the state covers those before them."""
        target = state.target

        def attend_to_target(x: Tensor) -> Tensor:
            nonlocal target
            newer = self.self_attention.project(x)
            target = newer if target is None else target.append(newer)
            return self.self_attention(x, target, target_mask)

        def attend_to_source(x: Tensor) -> Tensor:
            return self.cross_attention(x, state.source, source_mask)

        x = self.around_self_attention(x, attend_to_target)
        x = self.around_cross_attention(x, attend_to_source)
        return self.around_feed_forward(x, self.feed_forward), BlockState(state.source, target)


class Decoder(nn.Module):
    """A stack of N decoder blocks; with the norm before each sublayer, one more at the end.

    Decoding all positions at once (training) and one at a time (search) are the same call with
    more or fewer positions in x.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_decoder_layers))
        self.norm = build_norm(config) if config.norm == "before" else nn.Identity()

    def start(
        self, memory: Float[Tensor, "batch source d_model"], source_mask: SourceMask
    ) -> DecoderState:
        """Project the encoded source once for each block; no target token is seen yet."""
        blocks = []
        for block in self.blocks:
            assert isinstance(block, DecoderBlock)  # the type of a ModuleList's items is lost
            blocks.append(BlockState(block.cross_attention.project(memory)))
        return DecoderState(blocks=tuple(blocks), source_mask=source_mask)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        state: DecoderState,
        target_mask: TargetMask | None,
    ) -> tuple[Float[Tensor, "batch target d_model"], DecoderState]:
        states = []
        for block, block_state in zip(self.blocks, state.blocks, strict=True):
            x, newer = block(x, block_state, target_mask, state.source_mask)
            states.append(newer)
        advanced = replace(state, blocks=tuple(states), length=state.length + x.size(1))
        return self.norm(x), advanced
