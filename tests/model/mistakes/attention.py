"""Mistakes with attention, and the checks that notice them."""

import math
from typing import Any

import torch
from tests.model.mistakes.shared import (
    SOURCE,
    TARGET,
    Build,
    Mistake,
    check_token_by_token_equals_training,
    differ,
    weights_with,
)
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model import attention
from dragoman.model.attention import MultiHeadAttention, ScaledDotProductAttention
from dragoman.model.keys_and_values import KeysAndValues

D_MODEL, NUM_HEADS, PADDING = 8, 2, 0


def check_attention_equals_pytorch(build: Build) -> None:
    ours = MultiHeadAttention(D_MODEL, NUM_HEADS)
    theirs = nn.MultiheadAttention(D_MODEL, NUM_HEADS, batch_first=True)
    inputs = [ours.query_projection, ours.key_projection, ours.value_projection]
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([linear.weight for linear in inputs]),
            "in_proj_bias": torch.cat([linear.bias for linear in inputs]),
            "out_proj.weight": ours.output_projection.weight,
            "out_proj.bias": ours.output_projection.bias,
        }
    )
    queries, memory = torch.randn(2, 3, D_MODEL), torch.randn(2, 5, D_MODEL)
    assert not differ(ours(queries, ours.project(memory)), theirs(queries, memory, memory)[0])


def check_every_projection_learns(build: Build) -> None:
    layer = MultiHeadAttention(D_MODEL, NUM_HEADS)
    x = torch.randn(2, 3, D_MODEL)
    layer(x, layer.project(x)).square().sum().backward()
    for name, parameter in layer.named_parameters():
        if name.endswith("weight"):
            assert parameter.grad is not None and parameter.grad.any(), name  # noqa: PT018


def check_maps_show_probabilities_in_training(build: Build) -> None:
    model = build(attention_dropout=0.5).train()
    maps: list[Tensor] = []
    for module in model.modules():
        if isinstance(module, ScaledDotProductAttention):
            module.register_forward_hook(
                lambda _, inputs, __: maps.append(
                    attention.attention_weights(inputs[0], inputs[1], inputs[3])
                )
            )
    model(SOURCE, TARGET)
    assert len(maps) == 2 + 2 * 3
    for weights in maps:
        assert not differ(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))


def check_attention_has_dropout(build: Build) -> None:
    layer = MultiHeadAttention(D_MODEL, NUM_HEADS, dropout=0.5).train()
    x = torch.randn(2, 9, D_MODEL)
    assert differ(layer(x, layer.project(x)), layer(x, layer.project(x)))


original_attention = MultiHeadAttention.__init__


def scaled(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.mT / math.sqrt(queries.size(-1))


def hidden(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf)


def untransposed(queries: Tensor, keys: Tensor) -> Tensor:
    return (
        queries
        @ keys.reshape(*keys.shape[:-2], keys.size(-1), keys.size(-2))
        / math.sqrt(queries.size(-1))
    )


def after_dropout(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    return F.dropout(hidden(scaled(queries, keys), mask).softmax(-1), 0.5)  # type: ignore[arg-type]


def project_with_queries(self: MultiHeadAttention, sequence: Tensor) -> KeysAndValues:
    heads = self._split_heads(self.query_projection(sequence))
    return KeysAndValues(heads, heads)


def heads_of_the_embedding(
    self: MultiHeadAttention, sequence: Tensor, memory: Any, mask: Tensor | None = None
) -> Tensor:
    heads = self.attention(self._split_heads(sequence), memory.keys, memory.values, mask)
    return self.output_projection(heads.transpose(1, 2).flatten(start_dim=2))


def without_values(
    self: ScaledDotProductAttention, queries: Tensor, keys: Tensor, values: Tensor, mask: Any = None
) -> Tensor:
    return attention.attention_weights(queries, keys, mask) @ keys


def without_dropout(self: MultiHeadAttention, d_model: int, num_heads: int, **_: float) -> None:
    original_attention(self, d_model, num_heads)


APPEND = KeysAndValues.append


def forgetful_append(self: KeysAndValues, newer: KeysAndValues) -> KeysAndValues:
    keys, values = torch.zeros_like(self.keys), torch.zeros_like(self.values)
    return APPEND(KeysAndValues(keys, values, self.room), newer)


MISTAKES: list[Mistake] = [
    (
        "guide 003:61, no transpose",
        attention,
        "attention_weights",
        weights_with(untransposed, hidden),
        check_attention_equals_pytorch,
    ),
    (
        "guide 003:61, divided by the root of the length",
        attention,
        "attention_weights",
        weights_with(lambda q, k: q @ k.mT / math.sqrt(k.size(-2)), hidden),
        check_attention_equals_pytorch,
    ),
    (
        "not divided at all",
        attention,
        "attention_weights",
        weights_with(lambda q, k: q @ k.mT, hidden),
        check_attention_equals_pytorch,
    ),
    (
        "divided by the root of d_model",
        attention,
        "attention_weights",
        weights_with(lambda q, k: q @ k.mT / math.sqrt(D_MODEL), hidden),
        check_attention_equals_pytorch,
    ),
    (
        "guide 004:359, without V",
        ScaledDotProductAttention,
        "forward",
        without_values,
        check_attention_equals_pytorch,
    ),
    (
        "guide 004:324, heads cut from the embedding",
        MultiHeadAttention,
        "forward",
        heads_of_the_embedding,
        check_attention_equals_pytorch,
    ),
    (
        "guide 004:409-410, keys and values by W^Q",
        MultiHeadAttention,
        "project",
        project_with_queries,
        check_every_projection_learns,
    ),
    (
        "guide 004:402-404, maps after dropout",
        attention,
        "attention_weights",
        after_dropout,
        check_maps_show_probabilities_in_training,
    ),
    (
        "Annotated Transformer:827, dropout is ignored",
        MultiHeadAttention,
        "__init__",
        without_dropout,
        check_attention_has_dropout,
    ),
    (
        "the past is forgotten while decoding",
        KeysAndValues,
        "append",
        forgetful_append,
        check_token_by_token_equals_training,
    ),
]
