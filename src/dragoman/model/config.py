"""The hyper-parameters that decide the shape of a model."""

import math
from dataclasses import dataclass
from typing import Literal

from dragoman.choices import check_choices

LARGEST = {
    "d_model": 2**15,
    "d_ff": 2**18,
    "num_heads": 2**10,
    "num_encoder_layers": 2**10,
    "num_decoder_layers": 2**10,
}
"""Far beyond any model ever trained to translate: anything larger is a mistake, or an attempt to
use up all memory."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Everything that shapes a model except the sizes of its vocabularies.

    The default sizes are the paper's base model (table 3). The norm comes before each sublayer,
    which trains more stably; in the paper it comes after.
    """

    d_model: int = 512
    """Width of the residual stream."""

    d_ff: int = 2048
    """Width inside the feed-forward layers."""

    num_heads: int = 8
    """Attention heads in each attention layer; h in the paper."""

    num_encoder_layers: int = 6
    """Blocks of the encoder; N in the paper."""

    num_decoder_layers: int = 6
    """Blocks of the decoder; N in the paper."""

    dropout: float = 0.1
    """Rate on every sublayer output and on embeddings plus positions (section 5.4). On a CPU
    and in compiled blocks, this and the other two rates are rounded to the nearest 1/256, so below
    1/512 nothing is dropped."""

    attention_dropout: float = 0.0
    """Rate on attention weights; the paper does not mention it. Its code had it at 0, and later
    at 0.1."""

    feed_forward_dropout: float = 0.0
    """Rate on the hidden layer of the feed-forward network; the paper's code had it at 0, and later
    at 0.1."""

    norm: Literal["before", "after"] = "before"
    """Normalise before each sublayer and once at the end of each stack, or after each sublayer, as
    in the paper."""

    layer_norm: Literal["per_feature", "scalar"] = "per_feature"
    """A gain and a bias for each feature, or one pair for all of them, as in learners' guides."""

    layer_norm_epsilon: float = 1e-5
    """Added to the variance (per feature) or to the deviation (scalar)."""

    activation: Literal["relu", "gelu", "silu"] = "relu"
    """Activation between the two matrices of the feed-forward network; ReLU in the paper."""

    positional_encoding: Literal["interleaved", "marian", "tensor2tensor", "rotary"] = "interleaved"
    """One of three conventions for sinusoids that are added to the embeddings (interleaved is the
    paper's), or rotary, which rotates the queries and keys of self-attention instead."""

    tied_embeddings: Literal["all", "target", "none"] = "all"
    """Share one table between source, target and projection (section 3.4), between the last two,
    or not at all."""

    projection_bias: bool = False
    """Add a bias to the logits, as Marian does."""

    def __post_init__(self) -> None:
        check_choices(self)
        for name, largest in LARGEST.items():
            if not 1 <= getattr(self, name) <= largest:
                raise ValueError(f"{name}={getattr(self, name)} is not between 1 and {largest}")
        self._check_widths()
        for name in ("dropout", "attention_dropout", "feed_forward_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name}={getattr(self, name)} is not in [0, 1)")
        if not 0.0 < self.layer_norm_epsilon < math.inf:
            raise ValueError(
                f"layer_norm_epsilon={self.layer_norm_epsilon} is not positive and finite"
            )

    def _check_widths(self) -> None:
        if self.d_model % self.num_heads != 0:
            raise ValueError(
                f"d_model={self.d_model} is not a multiple of num_heads={self.num_heads}"
            )
        if self.d_model % 2 != 0:
            raise ValueError(f"d_model={self.d_model} is odd; sinusoids come in pairs")
        if self.positional_encoding == "rotary" and self.d_k % 2 != 0:
            raise ValueError(
                f"num_heads={self.num_heads} makes heads of {self.d_k} dimensions, which rotary "
                "positions cannot turn in pairs"
            )

    @property
    def d_k(self) -> int:
        """Width of the queries, keys and values of one head; d_v is the same (section 3.2.2)."""
        return self.d_model // self.num_heads

    @property
    def fewest_parameters(self) -> int:
        """A lower bound on the parameters: the self-attention and feed-forward matrices alone."""
        layers = self.num_encoder_layers + self.num_decoder_layers
        return layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_ff)


PRESETS: dict[str, dict[str, int | float]] = {
    "tiny": {  # Wu et al. 2021, for Multi30k
        "num_encoder_layers": 4,
        "num_decoder_layers": 4,
        "d_model": 128,
        "d_ff": 256,
        "num_heads": 4,
        "dropout": 0.3,
    },
    "small": {
        "num_encoder_layers": 3,
        "num_decoder_layers": 3,
        "d_model": 256,
        "d_ff": 1024,
        "num_heads": 4,
        "dropout": 0.1,
    },
    "base": {},  # the defaults above, table 3 of the paper
    "big": {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},  # table 3, last row
}
"""What each preset changes in `TransformerConfig`."""

STUDENTS: dict[str, dict[str, int | float]] = {
    "tiny-6-1": {
        **PRESETS["tiny"],
        "num_encoder_layers": 6,
        "num_decoder_layers": 1,
        "dropout": 0.1,
    },
    "small-6-1": {**PRESETS["small"], "num_encoder_layers": 6, "num_decoder_layers": 1},
    "base-12-1": {**PRESETS["base"], "num_encoder_layers": 12, "num_decoder_layers": 1},
}
"""Presets for students of another model, named after their encoder and decoder layers, as in Kasai
et al. 2021 ("Deep Encoder, Shallow Decoder", arXiv 2006.10369). The encoder reads a whole sentence
in one pass; the decoder runs once for each token, so its layers are what translating waits for."""
