"""Mistakes with norms, and the checks that notice them."""

from collections.abc import Callable
from typing import Any

import torch
from tests.model.mistakes.shared import SOURCE, Build, Mistake, differ
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import DecoderBlock
from dragoman.model.encoder import Encoder
from dragoman.model.feed_forward import FeedForward
from dragoman.model.layer_norm import LayerNormalization
from dragoman.model.residual import NormAfter, NormBefore, ResidualConnection, build_residual

D_MODEL, D_FF, PADDING = 12, 20, 0


def check_layer_norm_equals_pytorch(build: Build) -> None:
    ours, theirs = LayerNormalization(4, epsilon=0.1), nn.LayerNorm(4, eps=0.1)
    x = 3 * torch.randn(2, 5, 4) + 1
    assert not differ(ours(x), theirs(x))
    assert not differ(ours(x[:, :2]), ours(x)[:, :2])


def check_layer_norm_has_a_gain_and_a_bias_a_feature(build: Build) -> None:
    assert sum(p.numel() for p in LayerNormalization(4).parameters()) == 8


def check_feed_forward_is_not_linear(build: Build) -> None:
    layer = FeedForward(D_MODEL, D_FF)
    x, y = torch.randn(2, 1, 5, D_MODEL)
    assert differ(layer(x + y), layer(x) + layer(y) - layer(torch.zeros_like(x)))


def check_each_block_owns_its_feed_forward(build: Build) -> None:
    model = build()
    owned = {id(p) for p in model.parameters()}
    networks = [block.feed_forward for block in [*model.encoder.blocks, *model.decoder.blocks]]
    used = [id(p) for network in networks for p in network.parameters()]
    assert len(set(used)) == len(used)
    assert set(used) <= owned


def check_the_norm_stands_after_the_sum(build: Build) -> None:
    x = torch.randn(2, 3, D_MODEL)
    connection = build_residual(TransformerConfig(norm="after", d_model=D_MODEL, num_heads=2))
    connection.eval()
    assert not differ(connection(x, torch.sin), F.layer_norm(x + x.sin(), [D_MODEL]))


def check_the_norm_stands_before_the_sublayer(build: Build) -> None:
    x = torch.randn(2, 3, D_MODEL)
    connection = build_residual(TransformerConfig(norm="before", d_model=D_MODEL, num_heads=2))
    connection.eval()
    assert not differ(connection(x, torch.sin), x + F.layer_norm(x, [D_MODEL]).sin())


def check_the_stack_ends_in_a_norm(build: Build) -> None:
    states = build(norm="before", scrambled=False).encode(
        SOURCE, torch.ones(2, 1, 1, 7, dtype=torch.bool)
    )
    assert not differ(states.mean(dim=-1), torch.zeros(2, 7))


original_decoder_block = DecoderBlock.__init__
original_encoder = Encoder.__init__
GLOBAL_FEED_FORWARD = FeedForward(D_MODEL, D_FF)


def norm_with(
    spread: Callable[[Tensor, float], Tensor], shift: float = 0.0, dim: int = -1
) -> Callable[[LayerNormalization, Tensor], Tensor]:
    def forward(self: LayerNormalization, x: Tensor) -> Tensor:
        centred = x - x.mean(dim=dim, keepdim=True)
        return centred / spread(x, self.epsilon) + shift

    return forward


def deviation(x: Tensor) -> Tensor:
    return x.std(dim=-1, unbiased=False, keepdim=True)


def scalar_gain(self: LayerNormalization, d_model: int, *, epsilon: float = 1e-5) -> None:
    nn.Module.__init__(self)
    self.epsilon = epsilon
    self.gain, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))


def no_activation(self: FeedForward, x: Tensor) -> Tensor:
    return self.narrow(self.widen(x))


def global_feed_forward(self: DecoderBlock, config: TransformerConfig) -> None:
    original_decoder_block(self, config)
    del self.feed_forward
    object.__setattr__(self, "feed_forward", GLOBAL_FEED_FORWARD)


def sublayer_of_norm(self: ResidualConnection, x: Tensor, sublayer: Any) -> Tensor:
    return x + self.dropout(sublayer(self.norm(x)))


def norm_of_sum(self: ResidualConnection, x: Tensor, sublayer: Any) -> Tensor:
    return self.norm(x + self.dropout(sublayer(x)))


def without_last_norm(self: Encoder, config: TransformerConfig) -> None:
    original_encoder(self, config)
    self.norm = nn.Identity()


MISTAKES: list[Mistake] = [
    (
        "guides 001:125 and 004:221, scalar gain and bias",
        LayerNormalization,
        "__init__",
        scalar_gain,
        check_layer_norm_has_a_gain_and_a_bias_a_feature,
    ),
    (
        "Akshay model.py:45-51, the same",
        LayerNormalization,
        "__init__",
        scalar_gain,
        check_layer_norm_has_a_gain_and_a_bias_a_feature,
    ),
    (
        "guide 001:130, unbiased, epsilon outside",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: x.std(-1, keepdim=True) + e),
        check_layer_norm_equals_pytorch,
    ),
    (
        "unbiased deviation",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: (x.var(-1, keepdim=True) + e).sqrt()),
        check_layer_norm_equals_pytorch,
    ),
    (
        "epsilon outside the root",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: deviation(x) + e),
        check_layer_norm_equals_pytorch,
    ),
    (
        "guide 004:219, the square of the variance",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: (deviation(x) ** 4 + e).sqrt()),
        check_layer_norm_equals_pytorch,
    ),
    (
        "Akshay model.py:46, a bias of one",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: (deviation(x) ** 2 + e).sqrt(), shift=1.0),
        check_layer_norm_equals_pytorch,
    ),
    (
        "Akshay README:115, across the sentence",
        LayerNormalization,
        "forward",
        norm_with(lambda x, e: (deviation(x) ** 2 + e).sqrt(), dim=1),
        check_layer_norm_equals_pytorch,
    ),
    (
        "Akshay model.py:60-65, no activation",
        FeedForward,
        "forward",
        no_activation,
        check_feed_forward_is_not_linear,
    ),
    (
        "guide 004:551, one global network for all blocks",
        DecoderBlock,
        "__init__",
        global_feed_forward,
        check_each_block_owns_its_feed_forward,
    ),
    (
        "guide 004:447, the norm before as the paper's",
        NormAfter,
        "forward",
        sublayer_of_norm,
        check_the_norm_stands_after_the_sum,
    ),
    (
        "Annotated Transformer:355, the norm after in words only",
        NormBefore,
        "forward",
        norm_of_sum,
        check_the_norm_stands_before_the_sublayer,
    ),
    (
        "the norm before, but none at the end",
        Encoder,
        "__init__",
        without_last_norm,
        check_the_stack_ends_in_a_norm,
    ),
]
