"""Models that have learnt nothing, from English to Italian."""

from pathlib import Path
from typing import Any

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

TINY: dict[str, Any] = {
    "d_model": 8,
    "d_ff": 12,
    "num_heads": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
}


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
