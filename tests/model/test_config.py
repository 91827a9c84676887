"""The shapes of models: presets are the paper's, and impossible shapes are refused."""

import math

import pytest
import torch

from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer

VOCAB = 37_000  # shared source and target vocabulary, section 5.1


def parameters(preset: str) -> int:
    """Count the parameters of a preset without allocating them."""
    with torch.device("meta"):
        model = Transformer(
            TransformerConfig(**PRESETS[preset]),  # type: ignore[arg-type]
            source_vocab_size=VOCAB,
            target_vocab_size=VOCAB,
            padding_id=0,
        )
    return sum(parameter.numel() for parameter in model.parameters())


def by_hand(d_model: int, d_ff: int, num_layers: int) -> int:
    """Count matrices and biases of N + N blocks, of which the decoder's attend twice."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norm = 2 * d_model
    encoder = num_layers * (attention + feed_forward + 2 * norm) + norm
    decoder = num_layers * (2 * attention + feed_forward + 3 * norm) + norm
    return VOCAB * d_model + encoder + decoder


def test_base_has_the_size_of_the_paper() -> None:
    assert parameters("base") == by_hand(512, 2048, 6)
    assert 60e6 < parameters("base") < 65e6 + 1e6  # table 3: 65 million


def test_big_has_the_size_of_the_paper() -> None:
    assert parameters("big") == by_hand(1024, 4096, 6)
    assert 208e6 < parameters("big") < 216e6  # table 3: 213 million


@pytest.mark.parametrize(("preset", "shape"), [("tiny", (128, 256, 4)), ("small", (256, 1024, 3))])
def test_small_presets_have_the_size_they_state(preset: str, shape: tuple[int, int, int]) -> None:
    assert parameters(preset) == by_hand(*shape)


def test_the_defaults_are_table_3() -> None:
    config = TransformerConfig()

    assert (config.num_encoder_layers, config.num_decoder_layers) == (6, 6)
    assert (config.d_model, config.d_ff, config.num_heads) == (512, 2048, 8)
    assert (config.d_k, config.dropout) == (64, 0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_ff": 0}, "d_ff=0 is not between 1 and 262144"),
        ({"num_decoder_layers": -1}, "num_decoder_layers=-1 is not between 1 and 1024"),
        ({"d_model": 10, "num_heads": 4}, "d_model=10 is not a multiple of num_heads=4"),
        ({"d_model": 9, "num_heads": 3}, "d_model=9 is odd"),
        ({"feed_forward_dropout": 1.0}, "feed_forward_dropout=1.0 is not in"),
        ({"dropout": 1.0}, r"dropout=1.0 is not in \[0, 1\)"),
        ({"attention_dropout": -0.1}, "attention_dropout=-0.1 is not in"),
        ({"layer_norm_epsilon": 0.0}, "layer_norm_epsilon=0.0 is not positive"),
        ({"layer_norm_epsilon": math.inf}, "layer_norm_epsilon=inf is not positive and finite"),
    ],
)
def test_impossible_shapes_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**changes)  # type: ignore[arg-type]
