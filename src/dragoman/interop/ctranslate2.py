"""A copy of a model for CTranslate2, which translates without PyTorch."""

from pathlib import Path
from typing import Any, get_args

import torch
from ctranslate2.specs import Activation, TransformerSpec
from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec
from torch import Tensor, nn

from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.ctranslate2_copy import COPY_NAME, NUM_POSITIONS
from dragoman.interop.export import (
    ExportError,
    Proof,
    Quantization,
    compare_rounded,
    count_positions,
    prove,
)
from dragoman.interop.proof import EngineCopy, LoadedModel
from dragoman.interop.staging import staging
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import DecoderBlock
from dragoman.model.encoder import EncoderBlock
from dragoman.model.layer_norm import LayerNormalization
from dragoman.model.positional_encoding import Convention, sinusoids
from dragoman.model.transformer import Transformer
from dragoman.model_directory import WEIGHTS_OF_ORIGIN, ModelDescription
from dragoman.tokenizers.pair import TokenizerPair

FEWEST_POSITIONS = 2048
"""A copy has encodings for at least this many positions: CTranslate2 cannot compute more."""

_ACTIVATIONS = {"relu": Activation.RELU, "gelu": Activation.GELU, "silu": Activation.SWISH}

_POSITIONS = ("rotary", *get_args(Convention))


def export_ctranslate2(
    path: Path, output: Path | None = None, *, quantization: Quantization = "int8"
) -> Proof:
    """Write a copy of a model for CTranslate2, after showing that it computes the same.

    Args:
        path: A model directory.
        output: The directory to write; if not given, the model's own `ctranslate2` folder, where
            the translator finds it. An earlier copy is replaced.
        quantization: How weights are stored: int8 takes a quarter of the size.

    Raises:
        ExportError: the model cannot be expressed, or the copy computes something else.
        ModelError: there is no model.
    """
    model = LoadedModel.load(path)
    with staging(output or path / COPY_NAME, weights_name="model.bin", is_edited=False) as copy:
        _write(copy, model, None)
        finished = exact = prove(model, _load(model, copy))
        if quantization != "float32":
            _write(copy, model, quantization)
            finished = compare_rounded(model, _load(model, copy))
    return Proof(in_single_precision=exact, num_equal=finished.num_equal)


def _load(model: LoadedModel, copy: Path) -> EngineCopy:
    return EngineCopy(CTranslate2Engine(model.directory, model.tokenizers, copy=copy))


def _write(copy: Path, model: LoadedModel, quantization: str | None) -> None:
    """Write a copy that has not been compared yet."""
    positions = max(FEWEST_POSITIONS, count_positions(model.directory))
    spec = build_spec(
        model.directory.description, model.transformer, model.tokenizers, positions=positions
    )
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(copy))


def build_spec(
    description: ModelDescription,
    transformer: Transformer,
    tokenizers: TokenizerPair,
    *,
    positions: int,
) -> TransformerSpec:
    """Describe a model as CTranslate2 does; its weights are copied.

    Raises:
        ExportError: CTranslate2 has no such layer norm, activation or positional encoding.
    """
    config, special = description.model, description.special_ids
    if config.layer_norm != "per_feature":
        raise ExportError(
            f"CTranslate2 has no layer norm of the kind {config.layer_norm!r}; take --to onnx"
        )
    if config.activation not in _ACTIVATIONS:
        raise ExportError(
            f"CTranslate2 export knows no activation {config.activation!r}; take --to onnx"
        )
    if config.positional_encoding not in _POSITIONS:
        raise ExportError(
            f"CTranslate2 export knows no positional encoding {config.positional_encoding!r}; "
            "take --to onnx"
        )
    spec = _build_stacks(config, positions)
    _fill_encoder(spec.encoder, transformer)
    _fill_decoder(spec.decoder, transformer)
    pieces = tokenizers.target.pieces(range(tokenizers.target.vocab_size))
    spec.register_source_vocabulary(tokenizers.source.pieces(range(tokenizers.source.vocab_size)))
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token = spec.config.decoder_start_token = pieces[special.bos]
    spec.config.eos_token, spec.config.unk_token = pieces[special.eos], pieces[special.unk]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.layer_norm_epsilon
    spec.config.add_attribute(WEIGHTS_OF_ORIGIN, description.weights_sha256)
    spec.config.add_attribute(NUM_POSITIONS, positions)
    return spec


def _build_stacks(config: TransformerConfig, positions: int) -> TransformerSpec:
    """Describe both stacks, and how they encode positions."""
    shape: dict[str, Any] = {
        "num_heads": config.num_heads,
        "pre_norm": config.norm == "before",
        "activation": _ACTIVATIONS[config.activation],
    }
    if config.positional_encoding == "rotary":
        shape["rotary_dim"] = config.d_k
    encoder = TransformerEncoderSpec(config.num_encoder_layers, **shape)
    decoder = TransformerDecoderSpec(config.num_decoder_layers, **shape)
    if config.positional_encoding == "rotary":
        del encoder.position_encodings  # it does not drop them itself, as the decoder does
    else:
        table = sinusoids(positions, config.d_model, config.positional_encoding).numpy()
        encoder.position_encodings.encodings = decoder.position_encodings.encodings = table
    return TransformerSpec(encoder, decoder)


def _fill_encoder(spec: Any, transformer: Transformer) -> None:
    spec.embeddings[0].weight = _copied(transformer.source_embeddings.table.weight)
    for layer, block in zip(spec.layer, transformer.encoder.blocks, strict=True):
        assert isinstance(block, EncoderBlock)
        _fill_self_attention(layer.self_attention, block)
        _fill_feed_forward(layer.ffn, block)
    _fill_last_norm(spec, transformer.encoder.norm)


def _fill_decoder(spec: Any, transformer: Transformer) -> None:
    spec.embeddings.weight = _copied(transformer.target_embeddings.table.weight)
    for layer, block in zip(spec.layer, transformer.decoder.blocks, strict=True):
        assert isinstance(block, DecoderBlock)
        _fill_self_attention(layer.self_attention, block)
        query, memory, output = layer.attention.linear
        crossing = block.cross_attention
        _fill_linear(query, crossing.query_projection)
        _fill_linear(memory, crossing.key_projection, crossing.value_projection)
        _fill_linear(output, crossing.output_projection)
        _fill_norm(layer.attention.layer_norm, block.around_cross_attention.norm)
        _fill_feed_forward(layer.ffn, block)
    _fill_last_norm(spec, transformer.decoder.norm)
    spec.projection.weight = _copied(transformer.projection.linear.weight)
    if transformer.projection.linear.bias is not None:
        spec.projection.bias = _copied(transformer.projection.linear.bias)


def _fill_self_attention(spec: Any, block: EncoderBlock | DecoderBlock) -> None:
    attention: MultiHeadAttention = block.self_attention
    projected, output = spec.linear
    _fill_linear(
        projected,
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    )
    _fill_linear(output, attention.output_projection)
    _fill_norm(spec.layer_norm, block.around_self_attention.norm)


def _fill_feed_forward(spec: Any, block: EncoderBlock | DecoderBlock) -> None:
    _fill_linear(spec.linear_0, block.feed_forward.widen)
    _fill_linear(spec.linear_1, block.feed_forward.narrow)
    _fill_norm(spec.layer_norm, block.around_feed_forward.norm)


def _fill_linear(spec: Any, *side_by_side: nn.Linear) -> None:
    spec.weight = _copied(*(linear.weight for linear in side_by_side))
    spec.bias = _copied(*(linear.bias for linear in side_by_side))


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    assert isinstance(norm, LayerNormalization)
    spec.gamma, spec.beta = _copied(norm.gain), _copied(norm.bias)


def _fill_last_norm(spec: Any, norm: nn.Module) -> None:
    """Fill the norm at the end of a stack, which exists if norms stand before the sublayers."""
    if isinstance(norm, LayerNormalization):
        _fill_norm(spec.layer_norm, norm)


def _copied(*parts: Tensor) -> Any:
    """Join matrices, in new memory, as CTranslate2 rounds in place what it is given."""
    return torch.cat(parts).detach().numpy()
