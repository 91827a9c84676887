"""A saved model of a few words, some of which are hard to write in a picture."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers

PAIRS = [("the cat < & $ 漢字 🦊", 'il gatto " $ \x1b \x1b'), ("a dog", "un cane")]

SaveModel = Callable[..., ModelDirectory]


@pytest.fixture
def save(tmp_path: Path) -> SaveModel:
    """Save a model that was never trained; arguments change its description."""

    def save(**changes: Any) -> ModelDirectory:
        torch.manual_seed(5)
        tokenizer = TokenizerConfig(kind="words", min_frequency=1)
        pair = train_tokenizers(tokenizer, lambda: iter(PAIRS), tmp_path / "tokenizer")
        changes = {"search": {"beam_size": 1, "max_length_extra": 2}, **changes}
        transformer = untrained(pair, num_decoder_layers=3)
        return save_transformer(tmp_path / "model", transformer, pair, tokenizer, **changes)

    return save
