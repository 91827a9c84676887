"""What the configuration of a Marian model means here, and which settings are unsupported."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dragoman.errors import DragomanError
from dragoman.model.config import TransformerConfig

ACTIVATIONS: dict[str, Literal["relu", "gelu", "silu"]] = {
    "relu": "relu",
    "gelu": "gelu",
    "silu": "silu",
    "swish": "silu",
}
LAYER_NORM_EPSILON = 1e-5  # PyTorch's default, which the format never overrides

FIXED = {
    "model_type": "marian",
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
    "scale_embedding": True,
}
"""Settings that have no counterpart here, and the only value of each that can be imported."""

DEFAULTS = {"scale_embedding": False, "model_type": None}
"""What a missing setting means, where that is not the value in `FIXED`."""

SIZES = (
    "d_model",
    "encoder_ffn_dim",
    "encoder_attention_heads",
    "encoder_layers",
    "decoder_layers",
)

RATES = ("dropout", "attention_dropout", "activation_dropout")

TWINS = (
    ("encoder_ffn_dim", "decoder_ffn_dim"),
    ("encoder_attention_heads", "decoder_attention_heads"),
)
"""Settings that encoder and decoder share here."""


class MarianError(DragomanError):
    """A directory is not a Marian model, or not one that can be imported exactly."""


def read_config(
    table: Mapping[str, Any], directory: Path, *, projection_bias: bool
) -> TransformerConfig:
    """Translate a Marian `config.json`.

    Raises:
        MarianError: it asks for things that our model does not have; the message lists them all.
    """
    if obstacles := _obstacles(table):
        raise MarianError(f"{directory}: cannot be imported: {'; '.join(obstacles)}")
    _check_types(table, directory / "config.json")
    tied: Literal["all", "target", "none"] = "none"
    if table.get("tie_word_embeddings", True):
        tied = "all" if table.get("share_encoder_decoder_embeddings", True) else "target"
    try:
        return TransformerConfig(
            d_model=table["d_model"],
            d_ff=table["encoder_ffn_dim"],
            num_heads=table["encoder_attention_heads"],
            num_encoder_layers=table["encoder_layers"],
            num_decoder_layers=table["decoder_layers"],
            dropout=float(table.get("dropout", 0.1)),
            attention_dropout=float(table.get("attention_dropout", 0.0)),
            feed_forward_dropout=float(table.get("activation_dropout", 0.0)),
            norm="after",
            layer_norm_epsilon=LAYER_NORM_EPSILON,
            activation=ACTIVATIONS[table["activation_function"]],
            positional_encoding="marian",
            tied_embeddings=tied,
            projection_bias=projection_bias,
        )
    except KeyError as missing:
        raise MarianError(f"{directory / 'config.json'}: {missing} is missing") from None
    except ValueError as error:
        raise MarianError(f"{directory / 'config.json'}: {error}") from error


def _check_types(table: Mapping[str, Any], path: Path) -> None:
    """Refuse numbers that are none, and sizes that are not whole."""
    for key in SIZES:
        if type(table.get(key, 0)) is not int:
            raise MarianError(f"{path}: {key} is not a whole number")
    for key in RATES:
        if not isinstance(value := table.get(key, 0.0), int | float):
            raise MarianError(f"{path}: {key} is {value!r}, not a number")


def _obstacles(table: Mapping[str, Any]) -> list[str]:
    """List what a configuration asks for and our model does not have."""
    found = []
    for key, only in FIXED.items():
        value = table.get(key, DEFAULTS.get(key, only))
        if value != only:
            found.append(f"{key} is {value!r}, not {only!r}")
    for encoder, decoder in TWINS:
        if table.get(encoder) != table.get(decoder):
            found.append(f"{encoder} is {table.get(encoder)}, but {decoder} {table.get(decoder)}")
    activation = table.get("activation_function")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        found.append(f"activation_function is {activation!r}, not {', '.join(ACTIVATIONS)}")
    return found
