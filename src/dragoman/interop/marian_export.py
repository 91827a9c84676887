"""Models as Hugging Face's Marian classes read them: `MarianMTModel` and `MarianTokenizer`.

The weights are ours under other names. If our positional encoding is interleaved, the dimensions of
the residual stream are put into Marian's order, which changes nothing but rounding.
"""

import errno
import stat
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from dragoman.interop.export import ExportError, Proof, count_positions, prove, write_json
from dragoman.interop.marian import load_marian
from dragoman.interop.marian_config import ACTIVATIONS, FIXED, LAYER_NORM_EPSILON
from dragoman.interop.marian_proof import HuggingFaceCopy, find_other_tokens
from dragoman.interop.proof import LoadedModel
from dragoman.interop.residual_stream import reorder, sines_first
from dragoman.interop.staging import CONFIG_NAME, staging
from dragoman.interop.weight_names import LOGITS_BIAS, marian_block_names, marian_table_names
from dragoman.model_directory import WEIGHTS_NAME, WEIGHTS_OF_ORIGIN, ModelDescription
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.tokenizers.tokenizer import Tokenizer

COPY_NAME = "marian"

_ACTIVATION_NAMES = {ours: theirs for theirs, ours in ACTIVATIONS.items()}


def export_marian(path: Path, output: Path | None = None) -> Proof:
    """Write a model for Hugging Face's transformers, after showing that it computes the same.

    Transformers loads the export, translates with it, and cuts texts with its tokenizer.
    Then the weights are imported again.

    Args:
        path: A model directory.
        output: The directory to write; if not given, the folder `marian` in the model's own. An
            earlier export is replaced.

    Raises:
        ExportError: the model cannot be expressed, or the export computes something else.
        ModelError: there is no model.
        ModuleNotFoundError: transformers is not installed.
    """
    model = LoadedModel.load(path)
    if obstacles := _obstacles(model.directory.description):
        raise ExportError(
            f"{path}: Marian's format cannot hold it, as {' and '.join(obstacles)}; "
            "take --to onnx, or --to ctranslate2 if its norms are per feature"
        )
    with staging(output or path / COPY_NAME, weights_name=WEIGHTS_NAME) as directory:
        _write(directory, model)
        agreement = prove(
            model,
            HuggingFaceCopy(directory, model.directory.description.forbidden_ids),
            tolerance=1e-4,
        )
        if other := find_other_tokens(directory, model.tokenizers):
            raise ExportError(f"{path}: MarianTokenizer cuts {other[0]!r} into other tokens")
        if changed := _find_changes(directory, model):
            raise ExportError(f"{path}: imported again, {changed[0]} is different")
    return Proof(in_single_precision=agreement, num_equal=agreement.num_equal)


def _obstacles(description: ModelDescription) -> list[str]:
    """List what Marian has no counterpart for."""
    config = description.model
    found = []
    if config.norm == "before":
        found.append("the norm is before each sublayer, not after it")
    if config.layer_norm != "per_feature":
        found.append(f"its layer norm is of the kind {config.layer_norm!r}")
    elif config.layer_norm_epsilon != LAYER_NORM_EPSILON:
        found.append(f"layer_norm_epsilon is {config.layer_norm_epsilon}, not {LAYER_NORM_EPSILON}")
    if config.activation not in _ACTIVATION_NAMES:
        found.append(f"its activation is {config.activation!r}")
    if config.positional_encoding == "tensor2tensor":
        found.append("positional_encoding is 'tensor2tensor', which has other wavelengths")
    if config.positional_encoding == "rotary":
        found.append("positional_encoding is 'rotary', so no position is added")
    if description.tokenizer.kind == "words":
        found.append("its tokenizer has whole words, not SentencePiece's")
    return found


def _write(directory: Path, model: LoadedModel) -> None:
    """Write an export that has not been compared yet."""
    write_json(directory / CONFIG_NAME, _config(model))
    write_json(directory / "generation_config.json", _generation_config(model))
    write_json(directory / "tokenizer_config.json", _tokenizer_config(model))
    # Some readers require the format, which says who wrote the tensors.
    try:
        save_file(_weights(model), directory / WEIGHTS_NAME, metadata={"format": "pt"})
    except SafetensorError as error:  # a full disk
        raise OSError(errno.EIO, f"{WEIGHTS_NAME} cannot be written: {error}") from error
    usual_mode = stat.S_IMODE((directory / CONFIG_NAME).stat().st_mode)
    (directory / WEIGHTS_NAME).chmod(usual_mode)  # safetensors lets only the owner read
    source, target = model.tokenizers.source, model.tokenizers.target
    _save_sentencepiece(source, directory / "source.spm")
    _save_sentencepiece(target, directory / "target.spm")
    write_json(directory / "vocab.json", _vocabulary(source))
    if _has_separate_vocabularies(model):
        write_json(directory / "target_vocab.json", _vocabulary(target))


def _config(model: LoadedModel) -> dict[str, Any]:
    """Write our configuration in the form of transformers."""
    description = model.directory.description
    config, special = description.model, description.special_ids
    return {
        **FIXED,
        WEIGHTS_OF_ORIGIN: description.weights_sha256,
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "vocab_size": description.tokenizer.source_vocab_size,
        "decoder_vocab_size": description.tokenizer.target_vocab_size,
        "d_model": config.d_model,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "encoder_attention_heads": config.num_heads,
        "decoder_attention_heads": config.num_heads,
        "encoder_layers": config.num_encoder_layers,
        "decoder_layers": config.num_decoder_layers,
        "activation_function": _ACTIVATION_NAMES[config.activation],
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.feed_forward_dropout,
        "max_position_embeddings": count_positions(model.directory),
        "share_encoder_decoder_embeddings": config.tied_embeddings == "all",
        "tie_word_embeddings": config.tied_embeddings != "none",
        "pad_token_id": special.pad,
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "decoder_start_token_id": special.bos,
        "forced_eos_token_id": None,
    }


def _generation_config(model: LoadedModel) -> dict[str, Any]:
    """Write the search settings as far as transformers has the same ones.

    Its length penalty has another formula; the same exponent comes closest.
    """
    description, search = model.directory.description, model.directory.search
    special = description.special_ids
    return {
        "pad_token_id": special.pad,
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "decoder_start_token_id": special.bos,
        "bad_words_ids": [[token] for token in sorted(set(description.forbidden_ids))],
        "num_beams": search.beam_size,
        "length_penalty": search.length_penalty,
        "max_length": count_positions(model.directory),
    }


def _tokenizer_config(model: LoadedModel) -> dict[str, Any]:
    """Say which tokens are not text."""
    description, target = model.directory.description, model.tokenizers.target
    special = description.special_ids
    pad, unk, bos, eos = target.pieces([special.pad, special.unk, special.bos, special.eos])
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": description.source_language,
        "target_lang": description.target_language,
        "pad_token": pad,
        "unk_token": unk,
        "bos_token": bos,
        "eos_token": eos,
        "model_max_length": description.max_length + 1,  # transformers counts the end too
        "separate_vocabs": _has_separate_vocabularies(model),
        "clean_up_tokenization_spaces": False,
    }


def _weights(model: LoadedModel) -> dict[str, Tensor]:
    """Give our weights Marian's names and its order."""
    config = model.transformer.config
    weights: dict[str, Tensor] = model.transformer.state_dict()
    if config.positional_encoding == "interleaved":
        weights = reorder(weights, sines_first(config.d_model))
    names = {
        **marian_block_names(config),
        **{ours: names[0] for ours, names in marian_table_names(config).items()},
    }
    vocab_size = len(weights["projection.linear.weight"])
    bias = weights.get("projection.linear.bias", torch.zeros(vocab_size))
    return {
        **{theirs: weights[ours].contiguous() for ours, theirs in names.items()},
        LOGITS_BIAS: bias[None].contiguous(),
    }


def _find_changes(directory: Path, model: LoadedModel) -> list[str]:
    """Import an export again, and list the special ids and weights that have changed."""
    imported = load_marian(directory)
    config, special = model.transformer.config, model.directory.description.special_ids
    found: dict[str, Tensor] = imported.transformer.state_dict()
    if config.positional_encoding == "interleaved":
        found = reorder(found, sines_first(config.d_model).argsort())
    weights: dict[str, Tensor] = model.transformer.state_dict()
    ids = asdict(imported.tokenizers.target.special_ids)
    return [
        *(name for name, token in asdict(special).items() if token != ids[name]),
        *(
            name
            for name, weight in weights.items()  # a bias that is left out is zero
            if not torch.equal(weight, found.get(name, torch.zeros_like(weight)))
        ),
    ]


def _has_separate_vocabularies(model: LoadedModel) -> bool:
    return _vocabulary(model.tokenizers.source) != _vocabulary(model.tokenizers.target)


def _vocabulary(tokenizer: Tokenizer) -> dict[str, int]:
    """Map each piece to its id."""
    return {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}


def _save_sentencepiece(tokenizer: Tokenizer, path: Path) -> None:
    if isinstance(tokenizer, MarianTokenizer):
        path.write_bytes(tokenizer.sentencepiece_model)
    else:
        tokenizer.save(path)
