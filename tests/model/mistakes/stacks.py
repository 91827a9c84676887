"""Mistakes with the stacks, and the checks that notice them."""

from typing import Any

import torch
from tests.model.mistakes.shared import SOURCE, TARGET, Build, Mistake, differ
from torch import Tensor
from torch.nn import functional as F

from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import DecoderBlock
from dragoman.model.dropout import Dropout
from dragoman.model.encoder import Encoder
from dragoman.model.projection import Projection

D_MODEL, VOCAB = 12, 23


def check_the_decoder_reads_the_source(build: Build) -> None:
    model = build()
    assert differ(model(SOURCE, TARGET), model(SOURCE.flip(1), TARGET))


def check_a_misspelt_option_is_refused(build: Build) -> None:
    try:
        Encoder(TransformerConfig(), num_layer=6)  # type: ignore[call-arg]
    except TypeError:
        return
    raise AssertionError("a misspelt option passed")


def check_the_projection_takes_the_width_of_the_model(build: Build) -> None:
    assert Projection(D_MODEL, VOCAB).linear.in_features == D_MODEL


def check_the_model_gives_logits(build: Build) -> None:
    normalisers = build()(SOURCE, TARGET).logsumexp(dim=-1)
    assert differ(normalisers, torch.zeros_like(normalisers))


def check_evaluation_is_not_random(build: Build) -> None:
    model = build(dropout=0.5)
    assert not differ(model(SOURCE, TARGET), model(SOURCE, TARGET))


original_encoder = Encoder.__init__
original_projection = Projection.__init__


def any_option(self: Encoder, config: TransformerConfig, **_: Any) -> None:
    original_encoder(self, config)


def attend_to_the_target_twice(
    self: DecoderBlock, x: Tensor, memory: Tensor, target_mask: Any, *_: Any
) -> Tensor:
    def attend(x: Tensor) -> Tensor:
        return self.cross_attention(x, self.cross_attention.project(x), target_mask)

    x = self.around_self_attention(x, attend)
    x = self.around_cross_attention(x, attend)
    return self.around_feed_forward(x, self.feed_forward)


def global_width(self: Projection, d_model: int, vocab_size: int, **_: bool) -> None:
    original_projection(self, 6, vocab_size)


def log_softmax_inside(self: Projection, states: Tensor) -> Tensor:
    return self.linear(states).log_softmax(dim=-1)


def always_dropping(self: Dropout, x: Tensor) -> Tensor:
    return F.dropout(x, self.rate, training=True)


MISTAKES: list[Mistake] = [
    (
        "keys and values from the target, not the source",
        DecoderBlock,
        "forward",
        attend_to_the_target_twice,
        check_the_decoder_reads_the_source,
    ),
    (
        "guide 004:494, unknown options are swallowed",
        Encoder,
        "__init__",
        any_option,
        check_a_misspelt_option_is_refused,
    ),
    (
        "guide 004:584-591, a global width",
        Projection,
        "__init__",
        global_width,
        check_the_projection_takes_the_width_of_the_model,
    ),
    (
        "guide 004:598, log-softmax in the model",
        Projection,
        "forward",
        log_softmax_inside,
        check_the_model_gives_logits,
    ),
    (
        "Akshay model.py:181, the same",
        Projection,
        "forward",
        log_softmax_inside,
        check_the_model_gives_logits,
    ),
    (
        "guide 004:140 and 295, demonstrated with dropout",
        Dropout,
        "forward",
        always_dropping,
        check_evaluation_is_not_random,
    ),
]
