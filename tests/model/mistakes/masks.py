"""Mistakes with masks, and the checks that notice them."""

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
from torch import Tensor
from torch.nn import functional as F

from dragoman.model import attention, transformer
from dragoman.model.masks import causal_mask

D_MODEL, NUM_HEADS, PADDING = 8, 2, 0


def check_the_future_is_invisible(build: Build) -> None:
    model = build()
    changed = TARGET.clone()
    changed[:, 3:] = 21
    before, after = model(SOURCE, TARGET), model(SOURCE, changed)
    assert not differ(before[:, :3], after[:, :3])


def check_the_past_is_visible(build: Build) -> None:
    model = build()
    changed = TARGET.clone()
    changed[:, 1] = 21
    assert differ(model(SOURCE[1:], TARGET[1:])[:, 2], model(SOURCE[1:], changed[1:])[:, 2])


def check_padding_is_inert(build: Build) -> None:
    model = build()
    longer = model(F.pad(SOURCE, (0, 3)), F.pad(TARGET, (0, 2)))
    assert not differ(longer[:, :5], model(SOURCE, TARGET))
    assert not differ(model(SOURCE[1:, :3], TARGET[1:]), model(SOURCE, TARGET)[1:])


def check_every_true_token_is_visible(build: Build) -> None:
    model = build()
    for position in range(7):
        changed = SOURCE[:1].clone()
        changed[0, position] = 21
        assert differ(model(changed, TARGET[:1]), model(SOURCE[:1], TARGET[:1]))


def check_masks_work_in_half_precision(build: Build) -> None:
    x = torch.randn(1, 2, 3, 4).half()
    try:
        weights = attention.attention_weights(x, x, causal_mask(3))
    except RuntimeError as error:
        raise AssertionError("a masked score overflows") from error
    assert (weights.triu(diagonal=1) == 0).all()


def check_a_row_of_padding_is_harmless(build: Build) -> None:
    model = build()
    source, target = SOURCE.clone(), TARGET.clone()
    source[1], target[1] = PADDING, PADDING
    model(source, target).square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def scaled(queries: Tensor, keys: Tensor) -> Tensor:
    return queries @ keys.mT / math.sqrt(queries.size(-1))


def drop_the_result(scores: Tensor, mask: Tensor) -> Tensor:
    scores.masked_fill(~mask, -math.inf)
    return scores


def every_key_visible(tokens: Tensor, padding_id: int) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)[:, None, None]


def padding_of_another_language(tokens: Tensor, padding_id: int) -> Tensor:
    return (tokens != 5)[:, None, None]


def hides_the_words(tokens: Tensor, padding_id: int) -> Tensor:
    visible = tokens == padding_id
    visible[:, 0] = True
    return visible[:, None, None]


def no_guard(tokens: Tensor, padding_id: int) -> Tensor:
    return (tokens != padding_id)[:, None, None]


def inverted(length: int, device: Any = None) -> Tensor:
    return torch.ones(1, 1, length, length, dtype=torch.bool).triu()


def everything(length: int, device: Any = None) -> Tensor:
    return torch.ones(1, 1, length, length, dtype=torch.bool)


def only_itself(length: int, device: Any = None) -> Tensor:
    return torch.eye(length, dtype=torch.bool)[None, None]


MISTAKES: list[Mistake] = [
    (
        "guide 004:396, the masked scores are dropped",
        attention,
        "attention_weights",
        weights_with(scaled, drop_the_result),
        check_the_future_is_invisible,
    ),
    (
        "guide 004:396, -1e9 in half precision",
        attention,
        "attention_weights",
        weights_with(scaled, lambda s, m: s.masked_fill(~m, -1e9)),
        check_masks_work_in_half_precision,
    ),
    (
        "hkproj translate.py:60, the mask is inverted",
        transformer,
        "causal_mask",
        inverted,
        check_the_future_is_invisible,
    ),
    (
        "hkproj translate.py:60, another mask than decoding",
        transformer,
        "causal_mask",
        inverted,
        check_token_by_token_equals_training,
    ),
    ("no causal mask", transformer, "causal_mask", everything, check_the_future_is_invisible),
    ("the past is masked too", transformer, "causal_mask", only_itself, check_the_past_is_visible),
    ("padding is visible", transformer, "padding_mask", every_key_visible, check_padding_is_inert),
    (
        "hkproj train.py:220, padding of another language",
        transformer,
        "padding_mask",
        padding_of_another_language,
        check_padding_is_inert,
    ),
    (
        "a padding mask upside down",
        transformer,
        "padding_mask",
        hides_the_words,
        check_every_true_token_is_visible,
    ),
    (
        "table 1.1, a row with nothing to see",
        transformer,
        "padding_mask",
        no_guard,
        check_a_row_of_padding_is_harmless,
    ),
]
