"""Small models with nothing at zero, and their twins made of `torch.nn` modules."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import Decoder, DecoderBlock
from dragoman.model.encoder import Encoder, EncoderBlock
from dragoman.model.transformer import Transformer

PADDING = 0
VOCAB = 23

NAMES_IN_PYTORCH = {
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "feed_forward.widen": "linear1",
    "feed_forward.narrow": "linear2",
}


def scramble(module: nn.Module) -> None:
    """Give every parameter a random value: a zero bias or a gain of one hides mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)


@pytest.fixture
def build() -> Callable[..., Transformer]:
    def build(*, scrambled: bool = True, **changes: Any) -> Transformer:
        settings = {
            "d_model": 12,
            "d_ff": 20,
            "num_heads": 3,
            "num_encoder_layers": 2,
            "num_decoder_layers": 3,
            "dropout": 0.0,
            **changes,
        }
        model = Transformer(
            TransformerConfig(**settings),
            source_vocab_size=VOCAB,
            target_vocab_size=VOCAB,
            padding_id=PADDING,
        )
        if scrambled:
            scramble(model)
        return model.eval()

    return build


@pytest.fixture
def twin() -> Callable[[nn.Module, TransformerConfig], nn.Module]:
    """Give a function that builds, from one of our modules, PyTorch's with the same weights."""
    return pytorch_twin


def pytorch_twin(ours: nn.Module, config: TransformerConfig) -> nn.Module:
    theirs: nn.Module
    if isinstance(ours, MultiHeadAttention):
        theirs = nn.MultiheadAttention(config.d_model, config.num_heads, batch_first=True)
        theirs.load_state_dict(attention_weights_of(ours))
        return theirs.eval()
    if isinstance(ours, Encoder | Decoder):
        return twin_of_stack(ours, config).eval()
    kind = nn.TransformerDecoderLayer if isinstance(ours, DecoderBlock) else None
    theirs = (kind or nn.TransformerEncoderLayer)(
        config.d_model,
        config.num_heads,
        config.d_ff,
        dropout=0.0,
        activation=nn.functional.relu if config.activation == "relu" else nn.functional.gelu,
        layer_norm_eps=config.layer_norm_epsilon,
        batch_first=True,
        norm_first=config.norm == "before",
    )
    assert isinstance(ours, EncoderBlock | DecoderBlock)
    theirs.load_state_dict(block_weights_of(ours))
    return theirs.eval()


def twin_of_stack(ours: Encoder | Decoder, config: TransformerConfig) -> nn.Module:
    norm = None
    if config.norm == "before":
        norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        norm.load_state_dict({"weight": ours.norm.gain, "bias": ours.norm.bias})
    blocks: list[Any] = [pytorch_twin(block, config) for block in ours.blocks]
    theirs: nn.TransformerDecoder | nn.TransformerEncoder
    if isinstance(ours, Decoder):
        theirs = nn.TransformerDecoder(blocks[0], len(blocks), norm)
    else:
        theirs = nn.TransformerEncoder(blocks[0], len(blocks), norm, enable_nested_tensor=False)
    theirs.layers = nn.ModuleList(blocks)
    return theirs


def attention_weights_of(ours: MultiHeadAttention) -> dict[str, Tensor]:
    inputs = [ours.query_projection, ours.key_projection, ours.value_projection]
    return {
        "in_proj_weight": torch.cat([linear.weight for linear in inputs]),
        "in_proj_bias": torch.cat([linear.bias for linear in inputs]),
        "out_proj.weight": ours.output_projection.weight,
        "out_proj.bias": ours.output_projection.bias,
    }


def block_weights_of(ours: EncoderBlock | DecoderBlock) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    parts = ["self_attention", "feed_forward"]
    if isinstance(ours, DecoderBlock):
        parts.insert(1, "cross_attention")
    for number, part in enumerate(parts, start=1):
        for name, theirs in (("gain", "weight"), ("bias", "bias")):
            weights[f"norm{number}.{theirs}"] = ours.get_parameter(f"around_{part}.norm.{name}")
    for name, theirs in NAMES_IN_PYTORCH.items():
        if name.partition(".")[0] not in parts:
            continue
        module = ours.get_submodule(name)
        found = (
            attention_weights_of(module)
            if isinstance(module, MultiHeadAttention)
            else module.state_dict()
        )
        weights |= {f"{theirs}.{key}": value for key, value in found.items()}
    return weights
