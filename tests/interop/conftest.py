"""Tiny random models, ours and such as Hugging Face saves them, in which nothing is zero."""

import io
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
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
from dragoman.tokenizers.training import train_tokenizers

transformers = pytest.importorskip("transformers")

PAIRS = [
    ("The cat is on the table.", "Il gatto è sul tavolo."),
    ("The dog is under the table.", "Il cane è sotto il tavolo."),
    ("Where is the cat?", "Dov'è il gatto?"),
    ("I see a dog and a cat.", "Vedo un cane e un gatto."),
]
SPECIAL = SpecialIds()
TOKENIZERS = {
    "joint": TokenizerConfig(vocab_size=320),
    "separate": TokenizerConfig(vocab_size=300, joint=False),
    "words": TokenizerConfig(kind="words", vocab_size=40),
}
ENGLISH = ["the cat is on the table", "a dog runs after the cat", "where is the old station"]
ITALIAN = ["il gatto è sul tavolo", "un cane corre dietro al gatto", "dove è la stazione"]


@pytest.fixture(scope="session")
def tokenizer_files() -> dict[str, bytes]:
    """Train two SentencePiece models and number their pieces as OPUS-MT does."""
    models = []
    for texts in (ENGLISH, ITALIAN):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            vocab_size=40,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        models.append(model.getvalue())
    pieces = ["</s>", "<unk>"]
    for model_bytes in models:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model_bytes)
        pieces += [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys([*pieces, ">>ita<<", "<pad>"]))}
    return {
        "source.spm": models[0],
        "target.spm": models[1],
        "vocab.json": json.dumps(vocabulary).encode(),
    }


@pytest.fixture
def save_marian(tokenizer_files: dict[str, bytes], tmp_path: Path) -> Callable[..., Any]:
    """Give a function that saves a random model into tmp_path and returns it."""

    def save(**changes: Any) -> Any:
        vocab_size = len(json.loads(tokenizer_files["vocab.json"]))
        config = transformers.MarianConfig(
            **{
                "vocab_size": vocab_size,
                "d_model": 12,
                "encoder_layers": 2,
                "decoder_layers": 3,
                "encoder_attention_heads": 3,
                "decoder_attention_heads": 3,
                "encoder_ffn_dim": 20,
                "decoder_ffn_dim": 20,
                "activation_function": "swish",
                "scale_embedding": True,
                "max_position_embeddings": 64,
                "pad_token_id": vocab_size - 1,
                "decoder_start_token_id": vocab_size - 1,
                "eos_token_id": 0,
                "forced_eos_token_id": None,
                **changes,
            }
        )
        model = transformers.MarianMTModel(config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "embed_positions" not in name:
                    parameter.add_(torch.randn_like(parameter) * 0.2)
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, 3] = 0.0  # a bias all the same
        model.save_pretrained(tmp_path)
        for name, content in tokenizer_files.items():
            (tmp_path / name).write_bytes(content)
        return model

    return save


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenizerPair]:
    return {
        kind: train_tokenizers(config, lambda: PAIRS, tmp_path_factory.mktemp(kind))
        for kind, config in TOKENIZERS.items()
    }


def save_random(
    path: Path,
    pairs: dict[str, TokenizerPair],
    *,
    end: float = 0.0,
    forbidden: float = -30.0,
    tokenizer: str = "joint",
    max_length: int = ModelDescription.max_length,
    **changes: Any,
) -> ModelDirectory:
    """Save a random model whose probabilities are wide apart.

    A token that is forbidden usually has no probability to speak of, as in a trained model.
    """
    config, pair = TOKENIZERS[tokenizer], pairs[tokenizer]
    model = TransformerConfig(
        **{
            "d_model": 16,
            "d_ff": 24,
            "num_heads": 2,
            "num_encoder_layers": 2,
            "num_decoder_layers": 3,
            "tied_embeddings": "none",
            "projection_bias": True,
            **changes,
        }
    )
    transformer = Transformer(
        model,
        source_vocab_size=pair.source.vocab_size,
        target_vocab_size=pair.target.vocab_size,
        padding_id=SPECIAL.pad,
    )
    for name, parameter in transformer.named_parameters():
        if "norm" in name or name.endswith("bias"):
            torch.nn.init.normal_(parameter, mean=float("gain" in name), std=0.3)
    with torch.no_grad():
        transformer.projection.linear.weight.mul_(3.0)
        if transformer.projection.linear.bias is not None:
            transformer.projection.linear.bias[[SPECIAL.pad, SPECIAL.bos, SPECIAL.unk]] = forbidden
            transformer.projection.linear.bias[SPECIAL.eos] += end
    description = ModelDescription(
        source_language="en",
        target_language="it",
        model=model,
        tokenizer=TokenizerDescription.of(pair, config),
        special_ids=SPECIAL,
        max_length=max_length,
        search={"beam_size": 2, "max_length_ratio": 0.5, "max_length_extra": 6},
    )
    save_model(path, description, pair, dict(transformer.named_parameters()))
    return ModelDirectory(path)


@pytest.fixture
def save(tokenizers: dict[str, TokenizerPair], tmp_path: Path) -> Callable[..., ModelDirectory]:
    """Give a function that saves a random model into tmp_path."""
    return partial(save_random, tmp_path, tokenizers)


@dataclass(frozen=True)
class Exported:
    """A model with its ONNX graphs, and what the command said."""

    model: ModelDirectory
    output: str
    errors: str

    @property
    def path(self) -> Path:
        """The export."""
        return self.model.path / "onnx"


@pytest.fixture(scope="session")
def exported(
    tokenizers: dict[str, TokenizerPair], tmp_path_factory: pytest.TempPathFactory
) -> Exported:
    """Export a model with sinusoids to ONNX."""
    return export_to_onnx(
        tmp_path_factory.mktemp("traced"), tokenizers, "tensor2tensor", num_decoder_layers=2
    )


@pytest.fixture(scope="session")
def exported_rotary(
    tokenizers: dict[str, TokenizerPair], tmp_path_factory: pytest.TempPathFactory
) -> Exported:
    """Export a model with rotary positions to ONNX."""
    return export_to_onnx(
        tmp_path_factory.mktemp("turned"), tokenizers, "rotary", num_decoder_layers=1
    )


def export_to_onnx(
    path: Path,
    tokenizers: dict[str, TokenizerPair],
    positional_encoding: str,
    *,
    num_decoder_layers: int,
) -> Exported:
    """Export a model to ONNX, in a process whose tensors nobody checks: tracing is slow."""
    torch.manual_seed(1)
    model = save_random(
        path,
        tokenizers,
        end=1.0,
        num_encoder_layers=1,
        num_decoder_layers=num_decoder_layers,
        tied_embeddings="all",
        positional_encoding=positional_encoding,
    )
    command = [sys.executable, "-m", "dragoman", "export", str(model.path), "--to", "onnx"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return Exported(model, run.stdout, run.stderr)


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    """Let Hugging Face recommend what it likes."""
    transformers.utils.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses", UserWarning)
        yield
