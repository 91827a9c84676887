"""A model directory with random weights, none of them zero."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import (
    ModelDescription,
    ModelDirectory,
    TokenizerDescription,
    save_model,
)
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
    config = TransformerConfig(**{**SETTINGS, **changes})
    words = WordTokenizer(vocabulary)
    tokenizers = TokenizerPair(words, words)
    transformer = Transformer(
        config,
        source_vocab_size=words.vocab_size,
        target_vocab_size=words.vocab_size,
        padding_id=SpecialIds().pad,
    )
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        transformer.projection.linear.bias[SpecialIds().eos] += end_bias
    description = ModelDescription(
        source_language=languages[0],
        target_language=languages[1],
        model=config,
        tokenizer=TokenizerDescription.of(tokenizers, TokenizerConfig(kind="words")),
        special_ids=SpecialIds(),
        max_length=12,
        search={"beam_size": 2, "max_length_ratio": 1.0, "max_length_extra": 2},
    )
    save_model(path, description, tokenizers, dict(transformer.named_parameters()))
    return ModelDirectory(path)
