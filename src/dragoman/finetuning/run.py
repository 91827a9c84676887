"""Fine-tune a model, or continue doing so, and say what that has changed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from dragoman.config import read_table, set_key
from dragoman.corpora.learnt import count_learnt
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import VALIDATION_NAME, read_tsv
from dragoman.counting import counted
from dragoman.durable import write_atomically
from dragoman.errors import UsageError
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.report import comparisons_to_text
from dragoman.evaluation.significance import compare, few_sentences
from dragoman.finetuning.recipe import FineTuning, finetuning_recipe
from dragoman.model_directory import ModelDirectory, ModelError
from dragoman.model_directory.lineage import trainings_behind
from dragoman.pipeline.publication import unique_names
from dragoman.pipeline.run import train_model
from dragoman.pipeline.run_directory import (
    MAY_CHANGE,
    RECIPE_FILE,
    RunError,
    check_free,
    has_weights,
    make_directory,
    only_one,
)
from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.display import Display
from dragoman.training.distributed import rank
from dragoman.translator import Translator

ORDER_FILE = "finetuning.json"
"""In the directory of a run: what was asked for when it began."""


def fine_tune(order: FineTuning, display: Display) -> int | None:
    """Train a model further on other text, and compare it with what it was.

    Returns:
        The signal that stopped it; None when the run is finished.

    Raises:
        UsageError: the new model would replace the old one.
        DragomanError: the model, the text or the directory cannot be used.
    """
    if order.directory.resolve() == order.model.resolve():
        raise UsageError(
            f"{order.directory}: that is the model itself, which stays as it is; name another "
            "directory with -o"
        )
    check_free(order.directory)
    recipe = _begun(order)
    if recipe is None:
        recipe = _plan(order, display.message if rank() == 0 else lambda line: None)
        if rank() == 0:
            make_directory(order.directory)
            with only_one(order.directory):  # another's order stays as it is
                path = order.directory / ORDER_FILE
                write_atomically(path, json.dumps(order.to_table(), indent=1) + "\n")
    stopped_by = train_model(recipe, order.directory, display)
    if stopped_by is None and rank() == 0:
        _compare(order, recipe, display)
    return stopped_by


def _begun(order: FineTuning) -> Recipe | None:
    """Return the recipe that the run began with, with what may change; None if it has not begun.

    Raises:
        RunError: it began with something else.
    """
    if not has_weights(order.directory):
        return None
    path = order.directory / ORDER_FILE
    if not path.exists():
        raise RunError(
            f"{order.directory}: it holds a run that is not a fine-tuning; name another "
            "directory with -o"
        )
    try:
        begun = _decisive(json.loads(path.read_bytes()))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunError(
            f"{path}: it is damaged ({error}); bring a copy back, or name another directory with -o"
        ) from error
    asked = _decisive(order.to_table())
    if asked["keep"] is None:
        asked["keep"] = begun["keep"]  # whatever was at hand then
    if changed := [name for name, value in asked.items() if begun.get(name) != value]:
        raise RunError(
            f"{order.directory}: its fine-tuning began with other {' and '.join(changed)}; "
            "undo the change, or name another directory with -o"
        )
    table = read_table(order.directory / RECIPE_FILE)
    for assignment in filter(_may_change, order.assignments):
        set_key(table, assignment)
    return recipe_from_table(table)


def _decisive(table: dict[str, Any]) -> dict[str, Any]:
    """Leave out of an order the assignments that may change during its run.

    Orders of older versions do not say what is kept, which was nothing.
    """
    return {
        "keep": False,
        **table,
        "assignments": [a for a in table["assignments"] if not _may_change(a)],
    }


def _may_change(assignment: str) -> bool:
    return assignment.partition("=")[0].strip() in MAY_CHANGE


def _plan(order: FineTuning, say: Callable[[str], None]) -> Recipe:
    """Make the recipe of a new run, and say what is remarkable about it."""
    say("counting the tokens of the text")
    recipe, remarks = finetuning_recipe(order)
    for remark in remarks:
        say(remark)
    return recipe


def _compare(order: FineTuning, recipe: Recipe, display: Display) -> None:
    """Translate text with both models, and test the differences."""
    started = ModelDirectory(order.directory).description.training["sha256"]
    try:
        now = ModelDirectory(order.model).description.weights_sha256
    except ModelError as error:
        display.message(f"{error}, so the two are not compared")
        return
    if now not in started.values():
        display.message(
            f"{order.model}: its weights are not those that the fine-tuning began with, "
            "so the two are not compared"
        )
        return
    before, after = (
        Translator(
            path,
            engine="pytorch",
            device=recipe.training.device,
            precision=recipe.training.precision,
        )
        for path in (order.model, order.directory)
    )
    samples = recipe.evaluation.bootstrap_samples or EvaluationConfig.bootstrap_samples
    evaluation = replace(recipe.evaluation, bootstrap_samples=samples)
    for name, pairs in _texts(order, recipe):
        sources, references = ([pair[side] for pair in pairs] for side in (0, 1))
        found = compare(before(sources), after(sources), references, evaluation)
        display.message(f"{name}, {counted(len(pairs), 'sentence')}:")
        display.message(comparisons_to_text(found, ("before", "after")))
        for doubt in _doubts(order, sources, recipe.languages):
            display.message(f"warning: {doubt}")


def _doubts(order: FineTuning, sources: Sequence[str], languages: tuple[str, str]) -> Iterator[str]:
    """Say why a comparison on these sentences tells little, if there is a reason."""
    if count := count_learnt(sources, trainings_behind(ModelDirectory(order.model)), languages):
        yield (
            f"{order.model} was trained on {count} of {counted(len(sources), 'sentence')}, so its "
            "scores before are too good, and what it has learnt since is more than it seems"
        )
    if reservation := few_sentences(len(sources)):
        new, old = (quote(str(path)) for path in (order.directory, order.model))
        command = f"dragoman evaluate {new} dev.tsv --compare {old}"
        yield f"{reservation}; {command} tells more, on a text of your own"


def _texts(order: FineTuning, recipe: Recipe) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield text that the model has not learnt from: like the new text, and of what it knew before.

    Each has a title and pairs.
    """
    name = "validation text" if recipe.corpora.validation else "held out from the training text"
    yield name, list(read_tsv(order.directory / "data" / VALIDATION_NAME))
    tests = recipe.corpora.test
    for title, corpus in zip(unique_names(tests), tests, strict=True):
        read = read_pairs(corpus, languages=recipe.languages)
        yield title, [(pair.source, pair.target) for pair in read]
