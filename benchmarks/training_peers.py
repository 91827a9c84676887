"""Other toolkits, made to train the model of `training_speed.py` on its batches.

Each is an optional install, beside Dragoman in the same environment:

    huggingface     pip install transformers
    joeynmt         pip install --no-deps joeynmt==2.3.0, then what it imports: sacremoses,
                    subword-nmt, tensorboard, matplotlib, seaborn, importlib_metadata, pandas
    eole            pip install --no-deps eole==0.6.4, then what it imports: pyonmttok, pydantic

They run their own forward pass, loss and optimizer, as their own training loops call them, with
the settings that their manuals recommend for this size. All use AdamW with PyTorch's defaults
except for the learning rate, and clip gradients to a norm of 1. They get our batches, which have
less padding than their own, so that the speed of the models is compared, not that of batching.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from dragoman.corpora.batch import Batch
from dragoman.corpora.batching import Update
from dragoman.device import Precision, choose_precision
from dragoman.errors import DragomanError
from dragoman.model.config import TransformerConfig

IGNORED = -100  # the label that PyTorch's loss leaves out
JOEYNMT_SPECIAL = SimpleNamespace(
    unk_token="<unk>",
    pad_token="<pad>",
    bos_token="<s>",
    eos_token="</s>",
    unk_id=0,
    pad_id=1,
    bos_id=2,
    eos_id=3,
    sep_token=None,
    sep_id=None,
    lang_tags=[],
)
"""Its unknown token has the id 0 and its padding 1; ours are the other way round."""


class MissingError(DragomanError):
    """The peer is not installed, or cannot do this work."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What all subjects train."""

    model: TransformerConfig
    vocab_size: int
    pad_id: int
    bos_id: int
    eos_id: int
    label_smoothing: float
    learning_rate: float
    device: torch.device
    compile: bool
    """Whether Dragoman's blocks are compiled."""


class Subject(Protocol):
    """A toolkit with a model in the middle of training."""

    name: str
    version: str
    model: nn.Module
    dtype: torch.dtype

    @property
    def configuration(self) -> str:
        """How it computes, for the table."""

    def update(self, batch: Update) -> float:
        """Update the weights once and return the loss per token."""


class HuggingFace:
    """`MarianMTModel` of transformers, with autocast where the machine has bf16."""

    name = "huggingface"

    def __init__(self, work: Work, precision: Precision) -> None:
        try:
            from transformers import MarianConfig, MarianMTModel
        except ImportError:
            raise MissingError("not installed: pip install transformers") from None
        self.version = f"transformers {version('transformers')}"
        self.work = work
        self.dtype = choose_precision(precision, work.device)
        sizes = work.model
        marian = MarianMTModel(
            MarianConfig(
                vocab_size=work.vocab_size,
                d_model=sizes.d_model,
                encoder_layers=sizes.num_encoder_layers,
                decoder_layers=sizes.num_decoder_layers,
                encoder_attention_heads=sizes.num_heads,
                decoder_attention_heads=sizes.num_heads,
                encoder_ffn_dim=sizes.d_ff,
                decoder_ffn_dim=sizes.d_ff,
                dropout=sizes.dropout,
                attention_dropout=0.0,
                activation_dropout=0.0,
                activation_function="relu",
                scale_embedding=True,
                pad_token_id=work.pad_id,
                bos_token_id=work.bos_id,
                eos_token_id=work.eos_id,
                decoder_start_token_id=work.bos_id,
                forced_eos_token_id=work.eos_id,
                max_position_embeddings=512,
            )
        )
        self.attention = marian.config._attn_implementation
        self.model: nn.Module = marian.train().to(work.device)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=work.learning_rate, fused=True
        )

    @property
    def configuration(self) -> str:
        """Say how it computes."""
        return f"{_named(self.dtype)}, attention {self.attention}, fused AdamW"

    def update(self, batch: Update) -> float:
        """Sum the loss over the tokens of the update; its own would average each micro-batch."""
        return _update(self.model, self.optimizer, batch, self._loss)

    def _loss(self, batch: Batch) -> Tensor:
        device = self.work.device
        source, target = (
            torch.from_numpy(tokens).to(device) for tokens in (batch.source, batch.target)
        )
        labels = target[:, 1:].masked_fill(target[:, 1:] == self.work.pad_id, IGNORED)
        with torch.autocast(device.type, self.dtype, enabled=self.dtype != torch.float32):
            logits = self.model(
                input_ids=source,
                attention_mask=(source != self.work.pad_id).long(),
                decoder_input_ids=target[:, :-1],
            ).logits
            return nn.functional.cross_entropy(
                logits.flatten(0, 1),
                labels.flatten(),
                label_smoothing=self.work.label_smoothing,
                reduction="sum",
            )


class JoeyNMT:
    """JoeyNMT's model and loss in fp32, all that it has on a CPU."""

    name = "joeynmt"
    dtype = torch.float32
    configuration = "float32, AdamW"

    def __init__(self, work: Work, precision: Precision) -> None:
        del precision
        try:
            from joeynmt.model import build_model
            from joeynmt.vocabulary import Vocabulary
        except ImportError as error:
            raise MissingError(f"not installed ({error})") from None
        self.version = version("joeynmt")
        if work.device.type != "cpu":
            raise MissingError("compared on CPUs only")
        if (work.pad_id, work.bos_id, work.eos_id) != (0, 2, 3):
            raise MissingError("our special tokens are not where this adapter expects them")
        words = Vocabulary([f"piece {i}" for i in range(work.vocab_size - 4)], JOEYNMT_SPECIAL)
        self.model: nn.Module = build_model(joeynmt_model(work.model), words, words)
        self.model.loss_function = ("crossentropy", work.label_smoothing)
        self.model.train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=work.learning_rate)

    def update(self, batch: Update) -> float:
        """Do what its `_train_step` does, with its own batch and loss."""
        return _update(self.model, self.optimizer, batch, self._loss)

    def _loss(self, batch: Batch) -> Tensor:
        from joeynmt.batch import Batch as JoeyNMTBatch

        source, target = _exchanged(batch.source), _exchanged(batch.target)
        own = JoeyNMTBatch(
            src=source,
            src_length=(source != 1).sum(dim=1),
            src_prompt_mask=None,
            trg=target,
            trg_prompt_mask=None,
            indices=torch.arange(len(source)),
            device=torch.device("cpu"),
            pad_index=1,
            eos_index=3,
        )
        loss: Tensor = self.model(return_type="loss", **vars(own))[0]
        return loss


class Eole:
    """eole's model and loss, with autocast where the machine has bf16."""

    name = "eole"

    def __init__(self, work: Work, precision: Precision) -> None:
        try:
            from eole.config.models import TransformerModelConfig
            from eole.config.training import TrainingConfig
            from eole.models.model import EncoderDecoderModel
        except ImportError as error:
            raise MissingError(f"not installed ({error})") from None
        self.version = version("eole")
        if work.device.type != "cpu":
            raise MissingError("compared on CPUs only")
        self.work = work
        self.dtype = choose_precision(precision, work.device)
        special = {"pad_token": work.pad_id, "bos_token": work.bos_id, "eos_token": work.eos_id}
        tokens = {f"piece {i}": i for i in range(work.vocab_size)}
        names = {name: f"piece {i}" for name, i in special.items()}
        self.model: nn.Module = EncoderDecoderModel.for_training(
            TransformerModelConfig(**eole_model(work.model)),
            {"src": tokens, "tgt": tokens, "specials": names},
            TrainingConfig(
                dropout=[work.model.dropout],
                attention_dropout=[0.0],
                compute_dtype="fp32",  # of the weights: its autocast leaves them like that
                param_init_method="xavier_uniform",
            ),
        ).train()
        self.model.to(work.device)  # it takes a GPU where there is one
        self.loss = nn.CrossEntropyLoss(
            ignore_index=work.pad_id, reduction="sum", label_smoothing=work.label_smoothing
        )
        self.optimizer = torch.optim.AdamW(  # it has no fused one
            self.model.parameters(), lr=work.learning_rate, foreach=False
        )

    @property
    def configuration(self) -> str:
        """Say how it computes."""
        return f"{_named(self.dtype)}, AdamW"

    def update(self, batch: Update) -> float:
        """Do what its trainer does for a batch of such sentences."""
        return _update(self.model, self.optimizer, batch, self._loss)

    def _loss(self, batch: Batch) -> Tensor:
        source, target = torch.from_numpy(batch.source), torch.from_numpy(batch.target)
        with torch.autocast("cpu", self.dtype, enabled=self.dtype != torch.float32):
            found = self.model(source, target, (source != self.work.pad_id).sum(dim=1))
            logits = self.model.get_submodule("generator")(found.dec_out.flatten(0, 1))
            return self.loss(logits.float(), target[:, 1:].flatten())


PEERS: dict[str, Callable[[Work, Precision], Subject]] = {
    "huggingface": HuggingFace,
    "joeynmt": JoeyNMT,
    "eole": Eole,
}


def _named(dtype: torch.dtype) -> str:
    """Say which number format a peer computes in, and how."""
    return "float32" if dtype == torch.float32 else "bf16 by autocast"


def _update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Update,
    loss_of: Callable[[Batch], Tensor],
) -> float:
    """Accumulate gradients over the micro-batches, clip, and update the weights."""
    total = 0.0
    for part in batch.micro_batches:
        loss = loss_of(part)
        (loss / batch.num_target_tokens).backward()
        total += float(loss.detach())
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total / batch.num_target_tokens


def joeynmt_model(sizes: TransformerConfig) -> dict[str, Any]:
    """Write the section `model` of its configuration."""

    def stack(num_layers: int) -> dict[str, Any]:
        return {
            "type": "transformer",
            "num_layers": num_layers,
            "num_heads": sizes.num_heads,
            "embeddings": {"embedding_dim": sizes.d_model, "scale": True, "dropout": 0.0},
            "hidden_size": sizes.d_model,
            "ff_size": sizes.d_ff,
            "dropout": sizes.dropout,
            "layer_norm": "pre",
        }

    return {
        "initializer": "xavier_uniform",
        "embed_initializer": "normal",
        "embed_init_weight": sizes.d_model**-0.5,
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": stack(sizes.num_encoder_layers),
        "decoder": stack(sizes.num_decoder_layers),
    }


def eole_model(sizes: TransformerConfig) -> dict[str, Any]:
    """Write the section `model` of its configuration."""
    if sizes.num_encoder_layers != sizes.num_decoder_layers:
        raise MissingError("compared with as many layers in both stacks")
    positions = "SinusoidalInterleaved"
    return {
        "layers": sizes.num_encoder_layers,
        "hidden_size": sizes.d_model,
        "heads": sizes.num_heads,
        "transformer_ff": sizes.d_ff,
        "embeddings": {
            "src_word_vec_size": sizes.d_model,
            "tgt_word_vec_size": sizes.d_model,
            "position_encoding_type": positions,
        },
        "position_encoding_type": positions,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
        "generator_bias": False,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
    }


def _exchanged(ids: np.ndarray) -> Tensor:
    """Swap the ids 0 and 1."""
    return torch.from_numpy(np.where(ids < 2, 1 - ids, ids))
