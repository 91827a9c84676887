"""A saved model of a few words, some of which are hard to write in a picture."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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
from dragoman.tokenizers.training import train_tokenizers

PAIRS = [("the cat < & $ 漢字 🦊", 'il gatto " $ \x1b \x1b'), ("a dog", "un cane")]
CONFIG = TransformerConfig(
    d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=3
)

SaveModel = Callable[..., ModelDirectory]


@pytest.fixture
def save(tmp_path: Path) -> SaveModel:
    """Save a model that was never trained; arguments change its description."""

    def save(**changes: Any) -> ModelDirectory:
        torch.manual_seed(5)
        tokenizer = TokenizerConfig(kind="words", min_frequency=1)
        pair = train_tokenizers(tokenizer, lambda: iter(PAIRS), tmp_path / "tokenizer")
        size = pair.source.vocab_size
        transformer = Transformer(
            CONFIG, source_vocab_size=size, target_vocab_size=size, padding_id=0
        )
        values: dict[str, Any] = {
            "source_language": "en",
            "target_language": "it",
            "model": CONFIG,
            "tokenizer": TokenizerDescription.of(pair, tokenizer),
            "special_ids": pair.source.special_ids,
            "search": {"beam_size": 1, "max_length_extra": 2},
        }
        description = ModelDescription(**{**values, **changes})
        save_model(tmp_path / "model", description, pair, dict(transformer.named_parameters()))
        return ModelDirectory(tmp_path / "model")

    return save
