"""A trainer small enough to be built many times in a test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.corpora.batching import Batches
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.token_store import TokenStore
from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.training.config import TrainingConfig
from dragoman.training.display import Display
from dragoman.training.loop import Trainer, Validate
from dragoman.training.objective import Objective
from dragoman.training.validation import Validation

VOCAB = 20
SMALL = TransformerConfig(
    d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, dropout=0.2
)

MakeTrainer = Callable[..., Trainer]


def write_store(directory: Path) -> TokenStore:
    """Store 60 random sentences, each to be copied."""
    random = np.random.default_rng(3)
    sentences = [random.integers(4, VOCAB, random.integers(1, 9)).tolist() for _ in range(60)]
    with TokenStoreWriter(directory, vocab_size=VOCAB, fingerprint="copy", max_length=16) as writer:
        writer.start_corpus("copy", weight=1.0)
        writer.add(sentences, sentences)
    return TokenStore.open(directory, fingerprint="copy")


def weight_sum(objective: Objective, search: bool) -> Validation:
    """Judge a model by a number that depends on every weight."""
    total = sum(float(p.detach().double().abs().sum()) for p in objective.parameters())
    return Validation({"loss": total, **({"BLEU": -total} if search else {})})


def build_trainer(
    store: TokenStore,
    directory: Path,
    model: TransformerConfig,
    *,
    display: Display | None = None,
    validate: Validate | None = None,
    **settings: Any,
) -> Trainer:
    """Build a trainer that begins with the same weights each time."""
    torch.manual_seed(5)
    transformer = Transformer(model, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=0)
    transformer.to(settings.get("device", "cpu"))
    batching = BatchingConfig(tokens_per_update=40, max_tokens_per_micro_batch=20, max_length=16)
    batches = Batches(store, batching, seed=5, special=SpecialIds())
    defaults = {"updates": 12, "validate_every": 4, "warmup_updates": 3, "ema_decay": 0.9}
    return Trainer(
        transformer,
        batches,
        TrainingConfig(**{**defaults, **settings}),
        directory,
        validate=validate or weight_sum,
        publish=lambda weights, progress: None,
        display=display or Display(),
    )


@pytest.fixture
def make_trainer(tmp_path: Path) -> MakeTrainer:
    """Build trainers for run directories of this test."""
    store = write_store(tmp_path / "store")

    def make(name: str, model: TransformerConfig = SMALL, **settings: Any) -> Trainer:
        return build_trainer(store, tmp_path / name, model, **settings)

    return make
