"""A training that begins with the weights of another one, instead of new ones."""

from dataclasses import asdict
from pathlib import Path

from dragoman.config import DragomanError
from dragoman.corpora.text_file import expand
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import DESCRIPTION_NAME, WEIGHTS_NAME, ModelDirectory
from dragoman.recipe import Recipe, differences
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.training.averaging import copy_weights, weights_of


class BeginningError(DragomanError):
    """A run cannot begin with the weights that its recipe names."""


def check_sizes(recipe: Recipe) -> None:
    """Compare the sizes of a recipe with those of the model that it begins with, if it does.

    Raises:
        ModelError: there is no model.
        BeginningError: it has other sizes.
    """
    model = recipe.training.from_model
    if model is None:
        return
    description = ModelDirectory(expand(model)).description
    if changed := differences(_shape(description.model), _shape(recipe.model)):
        raise BeginningError(
            f"{model}: the recipe has other sizes than the model that it begins with "
            f"({'; '.join('model.' + change for change in changed)})"
        )


def take_weights(model: str, transformer: Transformer, tokenizers: TokenizerPair) -> None:
    """Overwrite new weights with those of a model of the same sizes.

    Args:
        model: Its directory, as a recipe names it.
        transformer: Has the new weights.
        tokenizers: Those of the run.

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
            f'tokenizer.from_model = "{model}"'
        )
    copy_weights(weights_of(directory.load_transformer()), transformer)


def fingerprint_start(model: str | None, run: Path) -> dict[str, str]:
    """Give the SHA-256 of the weights that a run began with, under the recipe's name for them.

    A run that has published a model has them in its description: they may have changed since.
    """
    if model is None:
        return {}
    name = f"{model}/{WEIGHTS_NAME}"
    if (run / DESCRIPTION_NAME).exists():
        recorded = ModelDirectory(run).description.training.get("sha256", {})
        if name in recorded:
            return {name: str(recorded[name])}
    return {name: ModelDirectory(expand(model)).description.weights_sha256}


def _shape(config: TransformerConfig) -> dict[str, object]:
    """Give all that decides what weights mean; rates of dropout do not."""
    return {name: value for name, value in asdict(config).items() if "dropout" not in name}
