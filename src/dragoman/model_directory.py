"""What a saved model contains.

    model.safetensors      the weights, and nothing but weights
    model.toml             a `ModelDescription`: all that is needed to use them
    tokenizer.model        or tokenizer.source.model and tokenizer.target.model, or .words

The names are fixed, so a description cannot point anywhere else. Nothing that is read can run
code. Everything is checked before it is used, because models come from other people.
"""

import hashlib
import math
import platform
import shutil
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tomli_w

from dragoman import __version__
from dragoman.config import DragomanError, RecipeError, from_table, to_table
from dragoman.durable import flush
from dragoman.model.config import TransformerConfig
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds, TokenizerError

if TYPE_CHECKING:
    from torch import Tensor

    from dragoman.model.transformer import Transformer

FORMAT_VERSION = 1
"""The newest layout of a model directory that this release reads, and the one that it writes."""

WEIGHTS_NAME = "model.safetensors"
DESCRIPTION_NAME = "model.toml"

_LARGEST_DESCRIPTION = 2**20  # bytes
_FLOATS = ("F32", "F16", "BF16")
_MOST_COMPLAINTS = 5
_STAGING = ".saving"
_FREE_TABLES = ("search", "training", "software")


Header = dict[str, tuple[str, tuple[int, ...]]]
"""The type and the shape of each tensor."""


class ModelError(DragomanError):
    """A model directory is missing, damaged, made up, or from a newer release."""


@dataclass(frozen=True, kw_only=True)
class TokenizerDescription:
    """The tokenizers that a model was trained with."""

    kind: Literal["unigram", "bpe", "words", "marian"]
    joint: bool
    lowercase: bool
    byte_fallback: bool
    source_vocab_size: int
    target_vocab_size: int
    source_fingerprint: str
    """SHA-256 of the tokenizer's file, as is the other."""
    target_fingerprint: str

    @classmethod
    def of(cls, pair: TokenizerPair, config: TokenizerConfig) -> "TokenizerDescription":
        """Describe tokenizers that were trained from these settings."""
        return cls(
            kind=config.kind,
            joint=pair.joint,
            lowercase=config.lowercase,
            byte_fallback=config.byte_fallback and config.kind != "words",
            source_vocab_size=pair.source.vocab_size,
            target_vocab_size=pair.target.vocab_size,
            source_fingerprint=pair.source.fingerprint,
            target_fingerprint=pair.target.fingerprint,
        )


@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The contents of `model.toml`."""

    format_version: int = FORMAT_VERSION
    source_language: str
    target_language: str
    weights_sha256: str = ""
    """Of `model.safetensors`; set when the model is saved."""
    model: TransformerConfig
    """The architecture."""
    tokenizer: TokenizerDescription
    special_ids: SpecialIds
    search: dict[str, Any] = field(default_factory=dict)
    """The settings of the search that suit this model; the others have their defaults."""
    training: dict[str, Any] = field(default_factory=dict)
    """Where the model comes from: recipe, updates, fingerprints of the data, scores."""
    software: dict[str, Any] = field(default_factory=dict)
    """Versions of what wrote it; set when the model is saved."""


class ModelDirectory:
    """A saved model.

    Raises:
        ModelError: there is no model, or its description cannot be used.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.description = _read_description(self.path / DESCRIPTION_NAME)

    def load_tokenizers(self) -> TokenizerPair:
        """Read the tokenizers.

        Raises:
            ModelError: they are missing, damaged, or not those the model was trained with.
        """
        expected = self.description.tokenizer
        try:
            pair = TokenizerPair.load(self.path, expected.kind)
        except TokenizerError as error:
            raise ModelError(str(error)) from error
        for language, tokenizer, fingerprint, vocab_size in (
            ("source", pair.source, expected.source_fingerprint, expected.source_vocab_size),
            ("target", pair.target, expected.target_fingerprint, expected.target_vocab_size),
        ):
            if (tokenizer.fingerprint, tokenizer.vocab_size) != (fingerprint, vocab_size):
                raise ModelError(
                    f"{self.path}: the {language} tokenizer is not the one that the model was "
                    "trained with; copy the model again"
                )
        if pair.source.special_ids != self.description.special_ids or pair.joint != expected.joint:
            raise ModelError(f"{self.path / DESCRIPTION_NAME}: it does not describe the tokenizers")
        return pair

    def load_transformer(self, device: str = "cpu") -> "Transformer":
        """Read the weights into a model that is ready to translate.

        Names, types and shapes are compared with the architecture before memory is taken.

        Raises:
            ModelError: the weights are missing, damaged, not those that were saved, do not fit
                the architecture, or are not all numbers.
        """
        from safetensors import SafetensorError, safe_open

        path = self.path / WEIGHTS_NAME
        try:
            if _sha256(path) != self.description.weights_sha256:
                raise ModelError(
                    f"{path}: not the weights that {DESCRIPTION_NAME} describes; copy both again"
                )
            with safe_open(path, framework="pt") as weights:
                return _assemble(self.description, weights, path).to(device)
        except OSError as error:
            raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
        except SafetensorError as error:
            raise ModelError(
                f"{path}: not a safetensors file, or a damaged one: {error}"
            ) from error


def count_parameters(path: str | Path) -> dict[str, int]:
    """Count the parameters of each part of a saved model; a table that is shared counts once.

    Raises:
        ModelError: the weights are missing or damaged.
    """
    from safetensors import SafetensorError, safe_open

    weights_path = Path(path) / WEIGHTS_NAME
    counts: dict[str, int] = {}
    try:
        with safe_open(weights_path, framework="numpy") as weights:
            for name, (_, shape) in _read_header(weights).items():
                part = name.partition(".")[0]
                counts[part] = counts.get(part, 0) + math.prod(shape)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{weights_path}: cannot be read: {error}") from error
    return counts


def save_model(
    directory: Path,
    description: ModelDescription,
    tokenizers: TokenizerPair,
    weights: Mapping[str, "Tensor"],
) -> ModelDescription:
    """Write a model directory; an earlier model in it is replaced.

    Everything is written beside its place first, and flushed to the disk. Then each file is
    renamed, the description last, and the new names are flushed. An interruption leaves the earlier
    model, or at worst, between two renames, one whose checksum is refused; never one that is taken
    for another.

    Args:
        directory: Made if it is missing. Other files in it are left alone.
        description: `weights_sha256` and `software` are filled in.
        tokenizers: Those the model was trained with.
        weights: `dict(transformer.named_parameters())`, in which a shared table occurs once.

    Returns:
        The description as it was written.
    """
    from safetensors.torch import save_file

    staging = directory / _STAGING
    shutil.rmtree(staging, ignore_errors=True)  # left by an interruption
    tokenizers.save(staging)
    tokenizer_names = sorted(path.name for path in staging.iterdir())
    tensors = {name: tensor.detach().contiguous().cpu() for name, tensor in weights.items()}
    save_file(tensors, staging / WEIGHTS_NAME)
    description = replace(
        description,
        weights_sha256=_sha256(staging / WEIGHTS_NAME),
        software={**_software(), **description.software},
    )
    (staging / DESCRIPTION_NAME).write_bytes(tomli_w.dumps(to_table(description)).encode())
    usual_mode = stat.S_IMODE((staging / DESCRIPTION_NAME).stat().st_mode)
    (staging / WEIGHTS_NAME).chmod(usual_mode)  # safetensors lets only the owner read
    for name in (*tokenizer_names, WEIGHTS_NAME, DESCRIPTION_NAME):
        flush(staging / name)
    for name in (*tokenizer_names, WEIGHTS_NAME, DESCRIPTION_NAME):
        (staging / name).replace(directory / name)
    for path in directory.glob("tokenizer*"):
        if path.suffix in (".model", ".words", ".marian") and path.name not in tokenizer_names:
            path.unlink()  # of an earlier model
    staging.rmdir()
    flush(directory)
    return description


def _software() -> dict[str, str]:
    """List the versions that decide what a model is."""
    import torch

    return {
        "dragoman": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _read_description(path: Path) -> ModelDescription:
    """Read `model.toml`."""
    table = _read_toml(path)
    _check_version(table, path)
    free = {key: table.pop(key, {}) for key in _FREE_TABLES}
    if wrong := [key for key, value in free.items() if not isinstance(value, dict)]:
        raise ModelError(f"{path}: {wrong[0]} should be a section")
    try:
        return replace(from_table(ModelDescription, table), **free)
    except RecipeError as error:
        raise ModelError(f"{path}: {error}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    """Read a file that should be TOML, and may be anything."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_DESCRIPTION + 1)
        if len(content) > _LARGEST_DESCRIPTION:
            raise ModelError(f"{path}: far too large for the description of a model")
        return tomllib.loads(content.decode())
    except FileNotFoundError:
        raise ModelError(
            f"{path.parent}: there is no model here, as it has no {path.name}"
        ) from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested without end
        raise ModelError(f"{path}: not a TOML file: {error}") from None


def _check_version(table: dict[str, Any], path: Path) -> None:
    """Refuse a layout that this release does not know."""
    version = table.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelError(f"{path}: format_version = {version!r} is not the number of a format")
    if version > FORMAT_VERSION:
        software = table.get("software")
        writer = software.get("dragoman", "?") if isinstance(software, dict) else "?"
        raise ModelError(
            f"{path}: written by dragoman {writer}, format {version}; this release, {__version__}, "
            f"reads up to format {FORMAT_VERSION}: install dragoman {writer} or newer"
        )


def _assemble(description: ModelDescription, weights: Any, path: Path) -> "Transformer":
    """Build the model that is described around the weights of the file."""
    import torch

    from dragoman.model.positional_encoding import PositionalEncoding
    from dragoman.model.transformer import Transformer

    config, tokenizer = description.model, description.tokenizer
    header = _read_header(weights)
    _check_size(description, header, path)
    try:
        with torch.device("meta"):  # shapes without memory
            transformer = Transformer(
                config,
                source_vocab_size=tokenizer.source_vocab_size,
                target_vocab_size=tokenizer.target_vocab_size,
                padding_id=description.special_ids.pad,
            )
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{path.parent / DESCRIPTION_NAME}: {error}") from error
    expected = dict(transformer.named_parameters())
    _check_tensors({name: tuple(p.shape) for name, p in expected.items()}, header, path)
    loaded = {
        parameter: torch.nn.Parameter(_read_tensor(weights, name, path), requires_grad=False)
        for name, parameter in expected.items()
    }
    for module in transformer.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, loaded[parameter])  # a shared table stays shared
    transformer.positions = PositionalEncoding(
        config.d_model, convention=config.positional_encoding
    )
    return transformer.eval()


def _read_header(weights: Any) -> Header:
    """List the type and the shape of each tensor of the file; none is read."""
    slices = {name: weights.get_slice(name) for name in weights.keys()}  # noqa: SIM118
    return {name: (part.get_dtype(), tuple(part.get_shape())) for name, part in slices.items()}


def _check_size(description: ModelDescription, header: Header, path: Path) -> None:
    """Refuse an architecture that is larger than the file, before anything is built of it."""
    config, tokenizer = description.model, description.tokenizer
    stored = sum(math.prod(shape) for _, shape in header.values())
    layers = config.num_encoder_layers + config.num_decoder_layers
    vocab_sizes = (tokenizer.source_vocab_size, tokenizer.target_vocab_size)
    of_a_layer = 4 * config.d_model**2 + 2 * config.d_model * config.d_ff  # at least
    needed = layers * of_a_layer + max(vocab_sizes) * config.d_model
    if min(vocab_sizes) < 1 or layers > len(header) or needed > stored:
        raise ModelError(
            f"{path}: it holds {stored} parameters in {len(header)} tensors, but {layers} layers "
            f"of d_model={config.d_model} and d_ff={config.d_ff} for vocabularies of "
            f"{vocab_sizes[0]} and {vocab_sizes[1]} need at least {needed}"
        )


def _check_tensors(expected: dict[str, tuple[int, ...]], header: Header, path: Path) -> None:
    """Compare the header of the file with the architecture."""
    complaints = [f"{name} is missing" for name in expected if name not in header]
    for name, (dtype, shape) in header.items():
        if name not in expected:
            complaints.append(f"{name} is unexpected")
        elif shape != expected[name]:
            complaints.append(f"{name} has shape {list(shape)} instead of {list(expected[name])}")
        elif dtype not in _FLOATS:
            complaints.append(f"{name} has type {dtype}")
    if complaints:
        shown, hidden = complaints[:_MOST_COMPLAINTS], complaints[_MOST_COMPLAINTS:]
        more = f" and {len(hidden)} more" if hidden else ""
        raise ModelError(
            f"{path}: the weights do not fit the architecture: {', '.join(shown)}{more}"
        )


def _read_tensor(weights: Any, name: str, path: Path) -> "Tensor":
    """Copy a tensor out of the file, in single precision."""
    import torch

    # A copy, because the file may change under a tensor that is mapped into memory.
    tensor = weights.get_tensor(name).to(torch.float32, copy=True)
    if not tensor.isfinite().all():
        raise ModelError(f"{path}: {name} holds values that are not numbers; train it again")
    return tensor


def _sha256(path: Path) -> str:
    """Compute the checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
