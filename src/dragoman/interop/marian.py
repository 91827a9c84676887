"""Models in Hugging Face's Marian format, such as OPUS-MT, turned into ours.

A Marian model is the paper's Transformer with the norm after each sublayer, a bias on the logits
and sinusoids in Marian's convention, so nothing is approximated: the logits are the same.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dragoman.durable import open_file, read_at_most
from dragoman.interop.marian_config import MarianError, read_config
from dragoman.interop.weight_names import LOGITS_BIAS, marian_block_names, marian_table_names
from dragoman.languages.codes import base_language, is_language_code
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDescription, TokenizerDescription, save_model
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.marian import MarianTokenizer, language_tokens
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import LARGEST_FILE, SpecialIds, TokenizerError

_TOKENIZER_CONFIG = "tokenizer_config.json"

FORMATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

LENGTH_PENALTY = 1.0
"""By which Marian and transformers search with such models, if in another formula, and not with the
paper's 0.6, with which translations of our own models are too short, too."""


@dataclass(frozen=True)
class MarianModel:
    """A Marian model in our terms."""

    transformer: Transformer
    tokenizers: TokenizerPair
    max_length: int
    """Tokens that a text may have besides its end, as far as the files say."""


def load_marian(directory: Path, *, language_token: str | None = None) -> MarianModel:
    """Read what `MarianMTModel.save_pretrained` and `MarianTokenizer.save_pretrained` wrote.

    Args:
        directory: With config.json, model.safetensors or pytorch_model.bin, source.spm, target.spm,
            vocab.json, and target_vocab.json if the languages have separate vocabularies.
        language_token: Such as `>>ita<<`, or `ita`: which language a model with several should
            write.

    Raises:
        MarianError: a file is missing or damaged, or the model has a property that ours lacks.
    """
    table = _read_json(directory / "config.json")
    weights = read_weights(directory)
    has_bias = LOGITS_BIAS in weights and bool(weights[LOGITS_BIAS].any())
    config = read_config(table, directory, projection_bias=has_bias)
    tokenizers = load_tokenizers(directory, table, language_token=language_token)
    renamed = rename(weights, config, directory)
    if config.fewest_parameters > _count_stored(renamed.values()):
        raise MarianError(
            f"{directory}: config.json describes a model with at least {config.fewest_parameters} "
            "parameters, but its weights are fewer"
        )
    try:
        transformer = Transformer(
            config,
            source_vocab_size=tokenizers.source.vocab_size,
            target_vocab_size=tokenizers.target.vocab_size,
            padding_id=tokenizers.target.special_ids.pad,
        )
    except ValueError as error:  # such as vocabularies of different sizes with shared embeddings
        raise MarianError(f"{directory}: {error}") from error
    _fill(transformer, renamed, directory)
    return MarianModel(transformer.eval(), tokenizers, _max_length(directory, table))


def convert_marian(
    directory: Path,
    output: Path,
    *,
    languages: tuple[str, str] | None = None,
    language_token: str | None = None,
) -> None:
    """Turn a Marian directory into a model directory.

    Args:
        directory: What `load_marian` reads.
        output: The model directory to write.
        languages: The codes of source and target; if not given, tokenizer_config.json says them,
            or the language token that of the target.
        language_token: What `load_marian` takes, or an empty string for none of several.

    Raises:
        MarianError: the model cannot be imported, or its languages are unknown, or one of several
            has to be chosen.
    """
    if not (directory / "config.json").is_file():
        what = "it has no config.json" if directory.is_dir() else "there is no such directory"
        raise MarianError(f"{directory}: {what}; name one that transformers has written")
    model = load_marian(directory, language_token=language_token or None)
    source, target = languages or _read_languages(directory, language_token)
    pair = model.tokenizers
    tokens = language_tokens(pair.source.pieces(range(pair.source.vocab_size)))
    if language_token is None and len(tokens) > 1:
        raise MarianError(
            f"{directory}: it translates into several languages; choose one with --language-token: "
            f"{', '.join(tokens)}"
        )
    description = ModelDescription(
        source_language=source,
        target_language=target,
        model=model.transformer.config,
        tokenizer=TokenizerDescription.of(
            pair, TokenizerConfig(kind="marian", from_model=str(directory))
        ),
        special_ids=pair.target.special_ids,
        max_length=model.max_length,
        search={"length_penalty": LENGTH_PENALTY},
        training={"imported_from": directory.resolve().name, "format": "Hugging Face Marian"},
    )
    save_model(output, description, pair, dict(model.transformer.named_parameters()))


def find_bad_words(directory: Path, forbidden_ids: Sequence[int]) -> list[Any]:
    """List the tokens that transformers would keep out of every translation, and we do not.

    Args:
        directory: What `load_marian` reads.
        forbidden_ids: Those that no translation has here either.
    """
    path = directory / "generation_config.json"  # without it, transformers looks in the other
    table = _read_json(path if path.exists() else directory / "config.json")
    said, alike = table.get("bad_words_ids"), [[token] for token in forbidden_ids]
    return [words for words in said if words not in alike] if isinstance(said, list) else []


def load_tokenizers(
    directory: Path, table: Mapping[str, Any], *, language_token: str | None
) -> TokenizerPair:
    """Read the tokenizers of both languages.

    Raises:
        MarianError: a file is missing or damaged, or not used as the others say, or special tokens
            of the languages differ.
    """
    source = _read_json(directory / "vocab.json")
    target = _read_json(directory / "target_vocab.json") if _is_separate(directory) else source
    prefix = None if language_token is None else f">>{language_token.strip('<>')}<<"
    special_ids = _special_ids(table, directory, source, target)
    try:
        return TokenizerPair(
            MarianTokenizer(
                _read_bytes(directory / "source.spm"), source, special_ids, prefix=prefix
            ),
            MarianTokenizer(_read_bytes(directory / "target.spm"), target, special_ids),
        )
    except TokenizerError as error:
        raise MarianError(f"{directory}: {error}") from error


def rename(
    weights: Mapping[str, Tensor], config: TransformerConfig, directory: Path
) -> dict[str, Tensor]:
    """Give Marian's weights our names; a tied table appears under each of its names.

    Raises:
        MarianError: a weight is missing, one of a block is not read, or tables that should be one
            differ.
    """
    renamed = {}
    for ours, theirs in marian_block_names(config).items():
        if theirs not in weights:
            raise MarianError(f"{directory}: the weight {theirs} is missing")
        renamed[ours] = weights[theirs]
    for ours, names in marian_table_names(config).items():
        found = [weights[name] for name in names if name in weights]
        if not found:
            raise MarianError(f"{directory}: the weight {names[0]} is missing")
        if not all(torch.equal(found[0], other) for other in found[1:]):
            raise MarianError(
                f"{directory}: config.json says that {', '.join(names)} are one table, "
                "but they differ"
            )
        renamed[ours] = found[0]
    if config.projection_bias:
        renamed["projection.linear.bias"] = weights[LOGITS_BIAS].flatten()
    read = set(marian_block_names(config).values())
    if left := sorted(name for name in weights if ".layers." in name and name not in read):
        raise MarianError(
            f"{directory}: config.json has no place for the weight {left[0]}; it describes another "
            "model"
        )
    return renamed


def _special_ids(
    table: Mapping[str, Any],
    directory: Path,
    source: Mapping[str, int],
    target: Mapping[str, int],
) -> SpecialIds:
    """Find the special ids, which must be the same in both vocabularies.

    The decoder starts from padding, unless generation_config.json or config.json say otherwise.
    """
    begins = "decoder_start_token_id"
    of_generation = _read_if_there(directory / "generation_config.json")
    told = [each for each in (of_generation, table) if each.get(begins) is not None]
    try:
        ids = SpecialIds(
            pad=_id(table, "pad_token_id", directory),
            unk=_id(target, "<unk>", directory),
            bos=_id(told[0], begins, directory) if told else _id(table, "pad_token_id", directory),
            eos=_id(table, "eos_token_id", directory),
        )
        for vocabulary in (source, target):
            in_vocabulary = (vocabulary["<pad>"], vocabulary["<unk>"], vocabulary["</s>"])
            if in_vocabulary != (ids.pad, ids.unk, ids.eos):
                raise MarianError(
                    f"{directory}: <pad>, <unk> and </s> are {in_vocabulary} in a vocabulary, "
                    f"but {(ids.pad, ids.unk, ids.eos)} in config.json or in the other one"
                )
    except KeyError as missing:
        raise MarianError(
            f"{directory}: {missing} is missing in config.json or vocab.json"
        ) from None
    return ids


def _id(table: Mapping[str, Any], name: str, directory: Path) -> int:
    """Return the id of a special token, which may be anything in the JSON."""
    value = table[name]
    if type(value) is not int or value < 0:
        raise MarianError(f"{directory}: {name} is {value!r}, not a whole number of at least 0")
    return value


def _fill(transformer: Transformer, weights: Mapping[str, Tensor], directory: Path) -> None:
    """Copy the weights into the model."""
    expected = transformer.state_dict()
    for name, value in weights.items():
        if not value.isfinite().all():
            raise MarianError(f"{directory}: {name} holds values that are not numbers")
        rows, places = value.shape[:1], expected[name].shape[:1]
        if name.endswith("table.weight") and rows != places:
            raise MarianError(
                f"{directory}: there are embeddings of {sum(rows)} tokens, but its vocabulary has "
                f"{sum(places)}; take both from one model, without padding"
            )
        if value.shape != expected[name].shape:
            raise MarianError(
                f"{directory}: {name} should be {tuple(expected[name].shape)}, "
                f"but is {tuple(value.shape)}"
            )
    transformer.load_state_dict(weights)


def _is_separate(directory: Path) -> bool:
    """Tell whether each language has its own vocabulary, as transformers decides it."""
    separate = bool(_read_if_there(directory / _TOKENIZER_CONFIG).get("separate_vocabs", False))
    if not separate and (directory / "target_vocab.json").exists():
        raise MarianError(
            f"{directory}: it has a target_vocab.json, but no tokenizer_config.json that says "
            '"separate_vocabs": true; add that, or delete the vocabulary if both languages share '
            "vocab.json"
        )
    return separate


def _max_length(directory: Path, table: Mapping[str, Any]) -> int:
    """Compute `MarianModel.max_length`."""
    said = (
        _read_if_there(directory / _TOKENIZER_CONFIG).get("model_max_length"),
        table.get("max_position_embeddings"),
    )
    # transformers writes a number of thirty digits where there is no limit.
    lengths = [number - 1 for number in said if type(number) is int and number > 1]
    return min([ModelDescription.max_length, *lengths])


def _read_languages(directory: Path, language_token: str | None) -> tuple[str, str]:
    """Read the languages that the tokenizer is for; of several targets, the token names one."""
    table = _read_if_there(directory / _TOKENIZER_CONFIG)
    source, target = table.get("source_lang"), table.get("target_lang")
    if language_token:
        base, _, region = language_token.strip("<>").replace("_", "-").partition("-")
        target = "-".join(filter(None, (base_language(base), region)))
    if not all(isinstance(code, str) and is_language_code(code) for code in (source, target)):
        raise MarianError(
            f"{directory}: nothing says which languages it translates; name them, as with "
            "--languages en-it"
        )
    return str(source), str(target)


def read_weights(directory: Path) -> dict[str, Tensor]:
    """Read the weights under Marian's names.

    Raises:
        MarianError: they are missing, damaged, in several files or in another number format.
    """
    path = directory / "model.safetensors"
    pickled = directory / "pytorch_model.bin"
    if not path.exists() and (directory / "model.safetensors.index.json").exists():
        raise MarianError(
            f"{directory}: its weights are in several files; "
            + written_anew(directory, ', max_shard_size="100GB"')
        )
    is_pickled = not path.exists() and pickled.exists()
    weights = _read_pickled_weights(pickled) if is_pickled else _read_safetensors(path)
    for name, weight in weights.items():
        if weight.dtype not in FORMATS:
            raise MarianError(
                f"{directory}: {name} has numbers in {weight.dtype}, which no model has"
            )
    return weights


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        open_file(path).close()  # safetensors would wait for a pipe
        return load_file(path)
    except FileNotFoundError:
        raise MarianError(f"{path}: there is no such file") from None
    except (SafetensorError, OSError) as error:
        raise MarianError(f"{path}: not a safetensors file, or a damaged one: {error}") from error


def _read_pickled_weights(path: Path) -> dict[str, Tensor]:
    """Read weights as OPUS-MT has published most of them.

    A pickle could run code. PyTorch makes nothing but tensors and plain containers of this one, and
    refuses what asks for more.
    """
    try:
        open_file(path).close()  # PyTorch would wait for a pipe
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as records:
                if any(record.compress_type for record in records.infolist()):
                    raise ValueError("it is compressed")  # to a thousandth of what it would take
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # anything, where the file is damaged
        reason = str(error).partition("\n")[0]
        raise MarianError(f"{path}: not weights as PyTorch saves them: {reason}") from error
    if not isinstance(weights, dict) or not all(
        isinstance(name, str) and _is_stored(weight) for name, weight in weights.items()
    ):
        raise MarianError(f"{path}: not a table of weights")
    return weights


def _is_stored(weight: object) -> bool:
    """Tell whether it is a weight with as many numbers in the file as its shape says."""
    return (
        type(weight) is Tensor
        and (weight.layout, weight.device.type) == (torch.strided, "cpu")
        and weight.nbytes <= weight.untyped_storage().nbytes()
    )


def _count_stored(weights: Iterable[Tensor]) -> int:
    """Count the numbers of weights in a file, where several may have the same ones."""
    storages = {weight.untyped_storage().data_ptr(): weight for weight in weights}
    return sum(weight.untyped_storage().nbytes() // weight.itemsize for weight in storages.values())


def written_anew(directory: Path, more: str = "") -> str:
    """Tell how to convert a directory, and not into itself: it may be links into a cache."""
    return (
        "let transformers write it anew, into a new directory NEW: "
        f"MarianMTModel.from_pretrained({str(directory)!r}).save_pretrained(NEW{more}) and "
        f"MarianTokenizer.from_pretrained({str(directory)!r}).save_pretrained(NEW)"
    )


def _read_if_there(path: Path) -> dict[str, Any]:
    """Read a file that not every model has."""
    return _read_json(path) if path.exists() else {}


def _read_json(path: Path) -> dict[str, Any]:
    written = _read_bytes(path)
    try:
        content = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise MarianError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(content, dict):
        raise MarianError(f"{path}: not a JSON object")
    return content


def _read_bytes(path: Path) -> bytes:
    try:
        return read_at_most(path, most=LARGEST_FILE)
    except OSError as error:
        raise MarianError(f"{path}: cannot be read: {error.strerror}") from error
