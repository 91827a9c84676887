"""A training that begins with the weights of another one, instead of new ones."""

from dataclasses import asdict

from dragoman.corpora.text_file import expand
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.claim import RunError
from dragoman.recipe import differences
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.training.averaging import copy_weights, weights_of


def take_weights(model: str, transformer: Transformer, tokenizers: TokenizerPair) -> None:
    """Overwrite new weights with those of a model.

    Args:
        model: Its directory, as a recipe names it.
        transformer: Has the new weights, and the sizes of the recipe.
        tokenizers: Those of the run.

    Raises:
        ModelError: there is no model, or it is damaged.
        RunError: it has other sizes or another vocabulary.
    """
    directory = ModelDirectory(expand(model))
    description = directory.description
    if changed := differences(_shape(description.model), _shape(transformer.config)):
        raise RunError(
            f"{model}: the recipe has other sizes than the model that it begins with "
            f"({'; '.join('model.' + change for change in changed)})"
        )
    theirs = description.tokenizer.source_fingerprint, description.tokenizer.target_fingerprint
    if theirs != (tokenizers.source.fingerprint, tokenizers.target.fingerprint):
        raise RunError(
            f"{model}: the recipe has another vocabulary than the model that it begins with; set "
            f'tokenizer.from_model = "{model}"'
        )
    copy_weights(weights_of(directory.load_transformer()), transformer)


def _shape(config: TransformerConfig) -> dict[str, object]:
    """Give all that decides what weights mean; rates of dropout do not."""
    return {name: value for name, value in asdict(config).items() if "dropout" not in name}
