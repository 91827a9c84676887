"""A copy of a model for CTranslate2, which translates without PyTorch."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ctranslate2
import torch
from ctranslate2.specs import Activation, TransformerSpec
from torch import Tensor, nn

from dragoman.config import DragomanError
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.engines.ctranslate2 import (
    COPY_NAME,
    NUM_POSITIONS,
    WEIGHTS_OF_ORIGIN,
    CTranslate2Engine,
)
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop.proof import GREEDY, Agreement, draw_sentences
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.decoder import DecoderBlock
from dragoman.model.encoder import EncoderBlock
from dragoman.model.layer_norm import LayerNormalization
from dragoman.model.positional_encoding import sinusoids
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDescription, ModelDirectory
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import forbidden_ids

Quantization = Literal["int8", "float32"]

POSITIONS = 2048
"""For how many positions a copy has encodings: CTranslate2 cannot compute further ones."""

_ACTIVATIONS = {"relu": Activation.RELU, "gelu": Activation.GELU, "silu": Activation.SWISH}


class ExportError(DragomanError):
    """A model cannot be expressed in the other format, or was not understood there."""


@dataclass(frozen=True, kw_only=True)
class CTranslate2Proof:
    """How a copy was shown to be right."""

    in_single_precision: Agreement
    """Before the weights were rounded."""

    num_equal: int
    """Sentences that the finished copy translates to the same tokens."""


def export_ctranslate2(
    path: Path, output: Path | None = None, *, quantization: Quantization = "int8"
) -> CTranslate2Proof:
    """Write a copy of a model for CTranslate2, after showing that it computes the same.

    Args:
        path: A model directory.
        output: The directory to write; if not given, the model's own `ctranslate2` folder, where
            the translator finds it. An earlier copy is replaced.
        quantization: Of the weights: int8 is a quarter of the size.

    Raises:
        ExportError: the model cannot be expressed, or the copy computes something else.
        ModelError: there is no model.
    """
    directory = ModelDirectory(path)
    output = output or path / COPY_NAME
    if output.exists() and not (output / "config.json").exists():
        raise ExportError(f"{output}: there is something else; name another output")
    transformer, tokenizers = directory.load_transformer(), directory.load_tokenizers()
    staging = output.with_name(f".{output.name}.writing")
    shutil.rmtree(staging, ignore_errors=True)  # left by an interruption
    try:
        _write(staging, directory.description, transformer, tokenizers, None)
        exact = _compare(directory, transformer, tokenizers, staging)
        if not exact.holds:
            raise ExportError(
                f"{path}: the copy computes something else: {exact.num_equal} of "
                f"{exact.num_sentences} translations are equal, log-probabilities differ by up "
                f"to {exact.largest_difference:.1e}; nothing was written"
            )
        if quantization != "float32":
            shutil.rmtree(staging)
            _write(staging, directory.description, transformer, tokenizers, quantization)
        rounded = _compare(directory, transformer, tokenizers, staging)
        shutil.rmtree(output, ignore_errors=True)
        staging.rename(output)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return CTranslate2Proof(in_single_precision=exact, num_equal=rounded.num_equal)


def _write(
    copy: Path,
    description: ModelDescription,
    transformer: Transformer,
    tokenizers: TokenizerPair,
    quantization: str | None,
) -> None:
    """Write a copy that nobody has compared yet."""
    spec = build_spec(description, transformer, tokenizers)
    spec.validate()
    spec.optimize(quantization=quantization)
    copy.mkdir(parents=True)
    spec.save(str(copy))


def build_spec(
    description: ModelDescription, transformer: Transformer, tokenizers: TokenizerPair
) -> TransformerSpec:
    """Describe a model as CTranslate2 does; its weights are copied.

    Raises:
        ExportError: CTranslate2 has no such layer norm.
    """
    config, special = description.model, description.special_ids
    if config.layer_norm != "per_feature":
        raise ExportError(f"CTranslate2 has no layer norm of the kind {config.layer_norm!r}")
    spec = TransformerSpec.from_config(
        (config.num_encoder_layers, config.num_decoder_layers),
        config.num_heads,
        pre_norm=config.norm == "before",
        activation=_ACTIVATIONS[config.activation],
    )
    _fill_encoder(spec.encoder, transformer)
    _fill_decoder(spec.decoder, transformer)
    for side in (spec.encoder, spec.decoder):
        table = sinusoids(POSITIONS, config.d_model, config.positional_encoding)
        side.position_encodings.encodings = table.numpy()
    pieces = tokenizers.target.pieces(range(tokenizers.target.vocab_size))
    spec.register_source_vocabulary(tokenizers.source.pieces(range(tokenizers.source.vocab_size)))
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token = spec.config.decoder_start_token = pieces[special.bos]
    spec.config.eos_token, spec.config.unk_token = pieces[special.eos], pieces[special.unk]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.layer_norm_epsilon
    spec.config.add_attribute(WEIGHTS_OF_ORIGIN, description.weights_sha256)
    spec.config.add_attribute(NUM_POSITIONS, POSITIONS)
    return spec


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
    """Fill the norm at the end of a stack, which is there if it stands before the sublayers."""
    if isinstance(norm, LayerNormalization):
        _fill_norm(spec.layer_norm, norm)


def _copied(*parts: Tensor) -> Any:
    """Join matrices, in memory of their own: CTranslate2 rounds in place what it is given."""
    return torch.cat(parts).detach().numpy().copy()


def _compare(
    directory: ModelDirectory, transformer: Transformer, tokenizers: TokenizerPair, copy: Path
) -> Agreement:
    """Translate sentences with both, and let the copy judge the translations of the original."""
    description = directory.description
    sources = list(draw_sentences(tokenizers.source))
    special = description.special_ids
    forbidden = forbidden_ids(description.tokenizer.kind, special)
    original = PyTorchEngine(transformer, special, forbidden_ids=forbidden)
    copied = CTranslate2Engine(directory, tokenizers, copy=copy)
    expected = [found[0] for found in original.search(sources, GREEDY)]
    actual = [found[0] for found in copied.search(sources, GREEDY)]
    scores = ctranslate2.Translator(str(copy)).score_batch(
        [tokenizers.source.pieces(source) for source in sources],
        [tokenizers.target.pieces(translation.ids) for translation in expected],
        max_input_length=0,
    )
    return Agreement(
        num_sentences=len(sources),
        num_equal=sum(a.ids == b.ids for a, b in zip(actual, expected, strict=True)),
        largest_difference=max(
            _largest_difference(translation, score.log_probs)
            for translation, score in zip(expected, scores, strict=True)
        ),
    )


def _largest_difference(expected: Hypothesis, actual: Sequence[float]) -> float:
    """Compare the log-probabilities of each token; the copy adds an end to what has none."""
    return max(
        abs(ours - theirs)
        for ours, theirs in zip(expected.token_log_probabilities, actual, strict=False)
    )
