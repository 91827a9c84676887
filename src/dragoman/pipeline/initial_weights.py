"""A training run that begins with the weights of another one, instead of new ones."""

import re
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

import tomli_w

from dragoman.config import read_table
from dragoman.corpora.text_file import expand
from dragoman.durable import write_atomically
from dragoman.errors import DragomanError
from dragoman.model.config import TransformerConfig
from dragoman.model.ensemble import Ensemble
from dragoman.model.transformer import Transformer
from dragoman.model_directory import DESCRIPTION_NAME, WEIGHTS_NAME, ModelDirectory
from dragoman.recipe import Recipe, differences
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.training.averaging import Weights, copy_weights, weights_of
from dragoman.training.distributed import rank

BLOCK = re.compile(r"(?P<stack>encoder|decoder)\.blocks\.(?P<number>\d+)\.(?P<rest>.+)")
"""The name of a weight in one of the layers."""

BEGINNING = "beginning.toml"
"""In the directory of a run: the SHA-256 of the weights that it began with."""

LAYERS = ("num_encoder_layers", "num_decoder_layers")


class BeginningError(DragomanError):
    """A run cannot begin with the weights that its recipe names."""


def check_sizes(recipe: Recipe) -> None:
    """Compare the sizes of a recipe with those of the model that it begins with, if there is one.

    Raises:
        ModelError: there is no model, or it is an ensemble that should be trained further.
        BeginningError: it has other sizes.
    """
    model = recipe.training.begins_with
    if model is None:
        return
    may_differ = LAYERS if recipe.training.layers_from is not None else ()
    directory = ModelDirectory(expand(model))
    if recipe.training.from_model is not None:
        directory.refuse_ensemble()
    if changed := other_sizes(directory.description.model, recipe.model, may_differ):
        raise BeginningError(
            f"{model}: the recipe has other sizes than the model that it begins with "
            f"({'; '.join(f'model.{key}: {change}' for key, change in changed.items())}); undo "
            "that, or leave out what names the model in its training section"
        )


def check_kind(recipe: Recipe) -> None:
    """Compare the kind of vocabulary of a recipe with that of the model whose vocabulary it takes.

    Unigram and BPE are read alike, but the new model would be described as what it is not, and
    `tokenizer.sampling` means something else for each. A directory with nothing but a vocabulary
    does not say of which kind it is.

    Raises:
        ModelError: the model has no description that can be read.
        BeginningError: it has another kind of vocabulary.
    """
    tokenizer = recipe.tokenizer
    if tokenizer.from_model is None:
        return
    model = expand(tokenizer.from_model)
    if not (model / DESCRIPTION_NAME).exists():
        return
    theirs = ModelDirectory(model).description.tokenizer.kind
    if theirs != tokenizer.kind:
        raise BeginningError(
            f"{tokenizer.from_model}: its vocabulary is of the kind {theirs!r}, and "
            f'tokenizer.kind is {tokenizer.kind!r}; set tokenizer.kind = "{theirs}"'
        )


def other_sizes(
    theirs: TransformerConfig, ours: TransformerConfig, may_differ: Collection[str]
) -> dict[str, str]:
    """Find the differences that change what weights mean; dropout rates do not."""
    left_out = {"dropout", "attention_dropout", "feed_forward_dropout", *may_differ}
    before, after = (
        {name: value for name, value in asdict(config).items() if name not in left_out}
        for config in (theirs, ours)
    )
    return differences(before, after)


def take_weights(
    model: str, transformer: Transformer, tokenizers: TokenizerPair, run: Path
) -> None:
    """Overwrite new weights with those of a model of the same sizes, except numbers of layers.

    Of an ensemble, the first model is taken. The first process records which weights they were: the
    model may change during the run.

    Args:
        model: Its directory, as a recipe names it.
        transformer: Has the new weights.
        tokenizers: Those of the run.
        run: Its directory.

    Raises:
        ModelError: there is no model, or it is damaged.
        BeginningError: it has another vocabulary.
    """
    directory = ModelDirectory(expand(model))
    theirs = directory.description.tokenizer
    if (theirs.source_fingerprint, theirs.target_fingerprint) != (
        tokenizers.source.fingerprint,
        tokenizers.target.fingerprint,
    ):
        raise BeginningError(
            f"{model}: the recipe has another vocabulary than the model that it begins with; set "
            f'tokenizer.from_model = "{model}", or leave out what names the model in its training '
            "section"
        )
    loaded = directory.load_model()
    first = loaded.first if isinstance(loaded, Ensemble) else loaded
    copy_weights(at_the_same_depth(first, transformer), transformer)
    if rank() == 0:
        taken = {f"{model}/{WEIGHTS_NAME}": directory.description.weights_sha256}
        write_atomically(run / BEGINNING, tomli_w.dumps(taken))


def at_the_same_depth(theirs: Transformer, ours: Transformer) -> Weights:
    """Give the weights of a model the names of another with more or fewer layers.

    Counted from zero, layer i of n begins as layer floor(((i + 1) m - 1) / n) of m, the last one
    of its share: for six layers from three, each is taken twice, and a single layer is the last.
    """
    weights = weights_of(theirs)
    before, after = (
        {"encoder": len(model.encoder.blocks), "decoder": len(model.decoder.blocks)}
        for model in (theirs, ours)
    )

    def counterpart(name: str) -> str:
        if not (block := BLOCK.fullmatch(name)):
            return name
        stack = block["stack"]
        number = ((int(block["number"]) + 1) * before[stack] - 1) // after[stack]
        return f"{stack}.blocks.{number}.{block['rest']}"

    return {name: weights[counterpart(name)] for name in weights_of(ours)}


def fingerprint_start(model: str | None, run: Path) -> dict[str, str]:
    """Return the SHA-256 of the weights that a run began with, under the recipe's name for them.

    A run that has not recorded it, such as one of an earlier version, has it in the description of
    the model that it has published, if any: the weights may have changed since.
    """
    if model is None:
        return {}
    name = f"{model}/{WEIGHTS_NAME}"
    if (run / BEGINNING).exists():
        recorded = read_table(run / BEGINNING)
    elif (run / DESCRIPTION_NAME).exists():
        recorded = ModelDirectory(run).description.training.get("sha256", {})
    else:
        recorded = {}
    if name in recorded:
        return {name: str(recorded[name])}
    return {name: ModelDirectory(expand(model)).description.weights_sha256}
