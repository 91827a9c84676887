"""Fine-tune a model, or go on with it, and say what that has changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.prepared_text import VALIDATION_NAME
from dragoman.evaluation.report import comparisons_to_text
from dragoman.evaluation.significance import compare
from dragoman.finetuning.recipe import finetuning_recipe
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.publication import unique_names
from dragoman.pipeline.run import train_model
from dragoman.recipe import Recipe
from dragoman.training.display import Display
from dragoman.translator import Translator


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """What is trained further, on what, and where."""

    model: Path
    pairs: tuple[str, ...]
    """As a recipe's `corpora.train` names them."""

    epochs: float
    """How many times the model sees them."""

    directory: Path
    """Of the run."""

    assignments: tuple[str, ...] = ()
    """Changes of the recipe, as section.key=value."""


def fine_tune(order: FineTuning, display: Display) -> int | None:
    """Train a model further on other text, and compare it with what it was.

    Returns:
        The signal that stopped it; None when the run is finished.

    Raises:
        DragomanError: the model, the text or the directory cannot be used.
    """
    recipe, remarks = finetuning_recipe(
        ModelDirectory(order.model), order.pairs, order.epochs, order.assignments
    )
    for remark in remarks:
        display.message(remark)
    stopped_by = train_model(recipe, order.directory, display)
    if stopped_by is None and recipe.evaluation.bootstrap_samples:
        _compare(order, recipe, display)
    return stopped_by


def _compare(order: FineTuning, recipe: Recipe, display: Display) -> None:
    """Translate text with both models, and test the differences."""
    before, after = (
        Translator(path, engine="pytorch", device=recipe.training.device)
        for path in (order.model, order.directory)
    )
    for name, pairs in _texts(order, recipe):
        sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
        found = compare(before(sources), after(sources), references, recipe.evaluation)
        display.message(f"{name}, {len(pairs):,} sentences:")
        display.message(comparisons_to_text(found, ("before", "after")))


def _texts(order: FineTuning, recipe: Recipe) -> Iterator[tuple[str, list[Pair]]]:
    """Give what the model has not learnt from: text like the new one, and what it knew before."""
    held_out = CorpusConfig(path=str(order.directory / "data" / VALIDATION_NAME))
    name = "validation text" if recipe.corpora.validation else "held out from the new text"
    tests = recipe.corpora.test
    for title, corpus in zip((name, *unique_names(tests)), (held_out, *tests), strict=True):
        yield title, list(read_pairs(corpus, languages=recipe.languages))
