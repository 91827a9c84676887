"""A model directory with random weights, none of them zero."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tests.untrained import save_transformer, untrained

from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.words import WordTokenizer

WORDS = ["the", "a", "black", "cat", "dog", "sees", "&", "<", "because", "table", "."]
SETTINGS: dict[str, Any] = {
    "d_model": 12,
    "d_ff": 20,
    "num_heads": 3,
    "num_encoder_layers": 2,
    "num_decoder_layers": 3,
    "projection_bias": True,
}


def save_small_model(
    path: Path,
    *,
    languages: tuple[str, str] = ("en", "it"),
    end_bias: float = 0.0,
    vocabulary: Sequence[str] = WORDS,
    **changes: Any,
) -> ModelDirectory:
    """Save a model whose end is more probable than other tokens by so much, in logits."""
    words = WordTokenizer(vocabulary)
    tokenizers = TokenizerPair(words, words)
    transformer = untrained(tokenizers, **{**SETTINGS, **changes})
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        transformer.projection.linear.bias[SpecialIds().eos] += end_bias
    return save_transformer(
        path,
        transformer,
        tokenizers,
        TokenizerConfig(kind="words"),
        source_language=languages[0],
        target_language=languages[1],
        max_length=12,
        search={"beam_size": 2, "max_length_ratio": 1.0, "max_length_extra": 2},
    )
