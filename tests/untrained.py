"""Models that have learnt nothing, from English to Italian or Japanese."""

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
from dragoman.tokenizers.training import train_tokenizers

TINY: dict[str, Any] = {
    "d_model": 8,
    "d_ff": 12,
    "num_heads": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
}

ENGLISH_JAPANESE = [
    ("The cat is on the table.", "猫は机の上にいます。"),
    ("The dog is under the table.", "犬は机の下にいます。"),
    ("Where is the cat?", "猫はどこですか。"),
    ("I see a dog and a cat.", "犬と猫を見ます。"),
]


def untrained(pair: TokenizerPair, **changes: Any) -> Transformer:
    """Build a tiny model with random weights; arguments change its architecture."""
    return Transformer(
        TransformerConfig(**{**TINY, **changes}),
        source_vocab_size=pair.source.vocab_size,
        target_vocab_size=pair.target.vocab_size,
        padding_id=pair.target.special_ids.pad,
    )


def save_transformer(
    path: Path,
    transformer: Transformer,
    pair: TokenizerPair,
    tokenizer: TokenizerConfig,
    **changes: Any,
) -> ModelDirectory:
    """Save a model; arguments change its description."""
    values: dict[str, Any] = {
        "source_language": "en",
        "target_language": "it",
        "model": transformer.config,
        "tokenizer": TokenizerDescription.of(pair, tokenizer),
        "special_ids": pair.target.special_ids,
    }
    description = ModelDescription(**{**values, **changes})
    save_model(path, description, pair, dict(transformer.named_parameters()))
    return ModelDirectory(path)


def save_to_japanese(path: Path, **changes: Any) -> Path:
    """Save a model to a language without spaces; arguments change its description."""
    config = TokenizerConfig(kind="bpe", vocab_size=40, joint=False, byte_fallback=False)
    pair = train_tokenizers(config, lambda: ENGLISH_JAPANESE * 10, path / "tokenizers")
    torch.manual_seed(14)  # it says several different words
    save_transformer(path / "model", untrained(pair), pair, config, target_language="ja", **changes)
    return path / "model"
