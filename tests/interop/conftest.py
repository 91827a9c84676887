"""Tiny random models as Hugging Face saves them, in which nothing is zero."""

import io
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

transformers = pytest.importorskip("transformers")

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
        model.save_pretrained(tmp_path)
        for name, content in tokenizer_files.items():
            (tmp_path / name).write_bytes(content)
        return model

    return save


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    """Let Hugging Face recommend what it likes."""
    transformers.utils.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses", UserWarning)
        yield
