"""`model.toml`: everything about a model except its weights."""

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.config import from_table
from dragoman.durable import open_file
from dragoman.errors import DragomanError, UsageError
from dragoman.model.config import TransformerConfig
from dragoman.tokenizers.config import IMPORTED, TokenizerConfig, TokenizerKind
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds, forbidden_ids

FORMAT_VERSION = 1
"""The layout of a model directory that this release writes, and the newest that it reads."""

DESCRIPTION_NAME = "model.toml"

WEIGHTS_OF_ORIGIN = "dragoman_weights_sha256"
"""The key in the `config.json` of an export that says which weights it was made from."""

CHECKSUMS = "dragoman_sha256"
"""The key with the SHA-256 of each other file there; exports by release 0.1.0 have none."""

LARGEST_CONFIG = 2**20
"""Bytes of that `config.json`."""

SIGN_OF_TRAINING = "journal.jsonl"
"""Training writes it from the beginning, and a model once it has validated."""

FINISHED_FILE = "finished"
"""Training writes it last."""

MOST_MEMBERS = 64
"""Of an ensemble; each is built before its weights are read, whatever is in the file."""

_LARGEST_DESCRIPTION = 2**20  # bytes
_LONGEST_TEXT = 2**16  # tokens
_FREE_TABLES = ("search", "training", "software")


class ModelError(DragomanError):
    """A model directory is missing, damaged, invalid, or from a newer release."""


@dataclass(frozen=True, kw_only=True)
class TokenizerDescription:
    """The tokenizers that a model was trained with."""

    kind: TokenizerKind
    joint: bool
    lowercase: bool
    byte_fallback: bool
    source_vocab_size: int
    target_vocab_size: int
    source_fingerprint: str
    """SHA-256 of the tokenizer's file, like the other."""
    target_fingerprint: str

    @classmethod
    def of(cls, pair: TokenizerPair, config: TokenizerConfig) -> "TokenizerDescription":
        """Describe tokenizers that were trained with these settings."""
        return cls(
            kind=config.kind,
            joint=pair.joint,
            lowercase=config.lowercase,
            byte_fallback=config.byte_fallback and config.kind not in ("words", IMPORTED),
            source_vocab_size=pair.source.vocab_size,
            target_vocab_size=pair.target.vocab_size,
            source_fingerprint=pair.source.fingerprint,
            target_fingerprint=pair.target.fingerprint,
        )


@dataclass(frozen=True, kw_only=True)
class AlignmentDescription:
    """Which attention of a model to the source aligns words best, and how that is known."""

    layer: int
    """Of the decoder, from 1."""

    head: int | None = None
    """From 1; None is the mean of all heads of the layer."""

    error_rate: float | None = None
    """Against gold alignments, if there were any (AER; Och and Ney 2003)."""

    agreement: float
    """Dice coefficient of the links that the two directions find."""

    text: str
    """Where the sentence pairs that decided this are from."""

    pairs: int
    """How many they are."""

    def __post_init__(self) -> None:
        if self.layer < 1 or (self.head is not None and self.head < 1):
            raise ValueError(f"layer={self.layer}, head={self.head} should count from 1")


@dataclass(frozen=True, kw_only=True)
class ShortlistDescription:
    """What the shortlist beside a model was learnt from, and what it is good for."""

    sha256: str
    """Of `shortlist.safetensors`."""

    text: str
    """Where the sentence pairs that it was learnt from are from."""

    pairs: int
    """How many they are."""

    coverage: float
    """The share of the tokens of held-out translations that are on their sentences' lists."""

    mean_length: float
    """Mean number of tokens on the list of such a sentence."""


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
    ensemble_of: int | None = None
    """How many transformers of this architecture decide together; if not given, it is one."""
    tokenizer: TokenizerDescription
    special_ids: SpecialIds
    max_length: int = 512
    """Tokens of the longest text that the model has seen; a longer one is cut."""
    alignment: AlignmentDescription | None = None
    """The attention that aligns words; set by `dragoman align`."""
    shortlist: ShortlistDescription | None = None
    """Set by `dragoman shortlist`; the weights of another training need a new one."""
    search: dict[str, Any] = field(default_factory=dict)
    """The search settings that suit this model; the others have their defaults."""
    training: dict[str, Any] = field(default_factory=dict)
    """Where the model comes from: recipe, updates, fingerprints of the data, scores."""
    software: dict[str, Any] = field(default_factory=dict)
    """Versions of the software that wrote it; set when the model is saved."""

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target."""
        return self.source_language, self.target_language

    @property
    def forbidden_ids(self) -> tuple[int, ...]:
        """The tokens that no translation contains."""
        return forbidden_ids(self.tokenizer.kind, self.special_ids)

    def __post_init__(self) -> None:
        if self.ensemble_of is not None and not 2 <= self.ensemble_of <= MOST_MEMBERS:  # noqa: PLR2004
            raise ValueError(f"ensemble_of={self.ensemble_of} is not between 2 and {MOST_MEMBERS}")
        if not 1 <= self.max_length <= _LONGEST_TEXT:
            raise ValueError(f"max_length={self.max_length} is not between 1 and {_LONGEST_TEXT}")


def read_description(path: Path) -> ModelDescription:
    """Read `model.toml`.

    Raises:
        ModelError: it is missing, from a newer release, or does not describe a model.
    """
    table = _read_toml(path)
    _check_version(table, path)
    free = {key: table.pop(key, {}) for key in _FREE_TABLES}
    if wrong := [key for key, value in free.items() if not isinstance(value, dict)]:
        raise ModelError(f"{path}: {wrong[0]} should be a section")
    if not _is_record(free["training"]):
        raise ModelError(f"{path}: training does not hold what a training run writes there")
    try:
        return replace(from_table(ModelDescription, table), **free)
    except UsageError as error:
        raise ModelError(f"{path}: {error}") from error


def _why_no_model(path: Path) -> str:
    """Say why there is no description where one is expected, and what to do."""
    directory = path.parent
    if (directory / SIGN_OF_TRAINING).exists():
        return (
            "its training has not written a model yet; wait, or if it was interrupted, repeat the "
            "command that began it, which goes on with it"
        )
    if not directory.exists():
        return "there is no model here, as there is no such directory"
    reason = f"there is no model here, as it has no {path.name}"
    if (directory / "config.json").exists():
        return f"{reason}; dragoman import marian makes one of a Marian model of transformers"
    return reason


def _read_toml(path: Path) -> dict[str, Any]:
    """Read a file that should be TOML, but may be anything."""
    try:
        with open_file(path) as stream:
            content = stream.read(_LARGEST_DESCRIPTION + 1)
        if len(content) > _LARGEST_DESCRIPTION:
            raise ModelError(f"{path}: far too large for the description of a model")
        return tomllib.loads(content.decode("utf-8-sig"))
    except FileNotFoundError:
        raise ModelError(f"{path.parent}: {_why_no_model(path)}") from None
    except NotADirectoryError:
        raise ModelError(
            f"{path.parent}: a file, where the directory of a model is expected"
        ) from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested too deeply
        raise ModelError(f"{path}: not a TOML file: {error}") from None


def _is_record(training: dict[str, Any]) -> bool:
    """Tell whether the training record that is printed has the form that a run gives it."""
    numbers = [training.get(key, 0) for key in ("updates", "target_tokens", "minutes")]
    texts: list[Any] = []
    try:
        for corpus in training.get("corpora", []):
            numbers += [corpus["read"], corpus["kept"]]
            texts.append(corpus["name"])
        texts += training.get("sha256", {}).values()
        for part in training.get("models", []):
            numbers.append(part["share"])
            texts += [part["model"], part["weights_sha256"]]
            if not _is_record(part["training"]):
                return False
        for scores in training.get("scores", {}).values():
            for result in scores.values():
                numbers.append(result["score"])
                texts.append(result["signature"])
    except (AttributeError, KeyError, TypeError):
        return False
    return all(isinstance(number, int | float) for number in numbers) and all(
        isinstance(text, str) for text in texts
    )


def _check_version(table: dict[str, Any], path: Path) -> None:
    """Refuse a layout that is unknown to this release."""
    version = table.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelError(
            f"{path}: format_version = {version!r} is not the number of a format; copy the model "
            "again"
        )
    if version > FORMAT_VERSION:
        software = table.get("software")
        writer = software.get("dragoman") if isinstance(software, dict) else None
        is_named = isinstance(writer, str)
        raise ModelError(
            f"{path}: written by {f'dragoman {writer}' if is_named else 'a newer release'}, format "
            f"{version}; this release, {__version__}, reads up to format {FORMAT_VERSION}: install "
            f"{f'dragoman {writer} or newer' if is_named else 'a newer one'}"
        )
