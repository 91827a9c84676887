"""The recipe of a student: its teacher's, with another model that learns from translations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dragoman.config import set_key, to_table
from dragoman.corpora.batching_config import with_length
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.huggingface import PREFIX
from dragoman.corpora.prepared_text import VALIDATION_NAME
from dragoman.corpora.text_file import CorpusError, as_setting, expand
from dragoman.errors import UsageError
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.initial_weights import LAYERS, other_sizes
from dragoman.recipe import Recipe, recipe_from_table, recorded_recipe, vocabulary_of
from dragoman.tokenizers.config import IMPORTED


def student_recipe(
    teacher: ModelDirectory,
    preset: str,
    pairs: Mapping[Path, float],
    assignments: tuple[str, ...],
) -> Recipe:
    """Write the recipe of a student.

    It differs from the teacher's in the model and in the training text, and takes the teacher's
    vocabulary and kind of positions. Validation and test text stay, so a student is judged by the
    same references; but by its translations and not by its loss, which rises again while they still
    get better, because a student learns to be sure of what its teacher says.

    Args:
        teacher: The model that teaches.
        preset: What the student's `model` section starts from.
        pairs: The files of the teacher's translations, and the weight of each.
        assignments: More changes, as section.key=value.

    Raises:
        UsageError: the preset or an assignment is wrong, or there is no text to validate on.
        ModelError: the teacher's own recipe cannot be read.
        CorpusError: a recipe cannot name the pairs or the teacher.
    """
    try:
        recipe = recipe_from_table(_table(teacher, preset, pairs, assignments))
    except UsageError as error:
        raise UsageError(f"the student of {teacher.path}: {error}") from error
    if not recipe.corpora.validation:
        raise UsageError(
            f"{teacher.path}: its recipe names no validation text, and a student is not judged by "
            "its teacher's translations; name a text with "
            "--set 'corpora.validation=[{path=\"dev.tsv\"}]'"
        )
    return _beginning_with(teacher, recipe)


def _beginning_with(teacher: ModelDirectory, recipe: Recipe) -> Recipe:
    """Let a student begin with the layers of its teacher, or of the first one, if they fit."""
    fits = not other_sizes(teacher.description.model, recipe.model, LAYERS)
    has_its_words = recipe.tokenizer.from_model == as_setting(teacher.path)
    if recipe.training.begins_with is not None or not (fits and has_its_words):
        return recipe
    training = replace(recipe.training, layers_from=as_setting(teacher.path))
    return replace(recipe, training=training)


def as_learnt(teacher: ModelDirectory, corpora: Sequence[CorpusConfig]) -> tuple[CorpusConfig, ...]:
    """Set weight and case of corpora that the teacher has learnt from to what they were then.

    So the teacher translates what it knows, and its student sees each text as often.

    Raises:
        UsageError: the first one got its case from text that is not there.
        ModelError: the teacher's own recipe cannot be read.
    """
    recipe = recorded_recipe(teacher)
    learnt = recipe.corpora.train if recipe else ()
    settings = {_place(corpus): corpus for corpus in learnt}
    given = tuple(
        replace(corpus, weight=known.weight, truecase=known.truecase)
        if (known := settings.get(_place(corpus)))
        else corpus
        for corpus in corpora
    )
    if given and given[0].truecase:
        raise UsageError(
            f"{given[0].file}: the teacher learnt it with the case that its "
            "words have in other text; name that text before it"
        )
    return given


def _place(corpus: CorpusConfig) -> tuple[Path | str, ...]:
    """Tell where the text of a corpus is, however it is named."""
    names = [name for name in (corpus.path, corpus.source, corpus.target) if name is not None]
    try:
        return tuple(name if name.startswith(PREFIX) else expand(name).resolve() for name in names)
    except CorpusError:  # it no longer exists
        return tuple(names)


def _table(
    teacher: ModelDirectory,
    preset: str,
    pairs: Mapping[Path, float],
    assignments: tuple[str, ...],
) -> dict[str, Any]:
    """Adapt the recipe recorded in the teacher's description; an import has a search alone."""
    description = teacher.description
    recipe = recorded_recipe(teacher)
    table: dict[str, Any] = to_table(recipe) if recipe else {"search": dict(description.search)}
    table["source_language"] = description.source_language
    table["target_language"] = description.target_language
    table["corpora"] = _corpora(_held_out(teacher), table.get("corpora", {}), pairs)
    tokenizer = table.pop("tokenizer", {})
    table["model"] = {"preset": preset}
    was_finetuned = table.get("training", {}).get("from_model") is not None
    if was_finetuned:  # which was short, and began with another model
        del table["training"], table["batching"]
    table["batching"] = with_length(table.get("batching", {}), description.max_length)
    if description.tokenizer.kind != IMPORTED:
        table["model"]["tied_embeddings"] = description.model.tied_embeddings
        table["model"]["positional_encoding"] = description.model.positional_encoding
        tokenizer.pop("vocab_size", None)  # for vocabularies that are learnt, not taken
        table["tokenizer"] = tokenizer | vocabulary_of(teacher)
    training = table.setdefault("training", {})
    training.pop("layers_from", None)  # of a teacher that was a student itself
    if training.get("metric", "loss") == "loss":
        training |= {"metric": "BLEU", "search_every": 1}
    for assignment in assignments:
        set_key(table, assignment)
    return table


def _held_out(teacher: ModelDirectory) -> Path | None:
    """Find the text that a teacher's training has held out, or that of one of its parts."""
    parts = (Path(part["model"]) for part in teacher.description.training.get("models", []))
    texts = (model / "data" / VALIDATION_NAME for model in (teacher.path, *parts))
    return next(filter(Path.is_file, texts), None)


def _corpora(
    held_out: Path | None, corpora: dict[str, Any], pairs: Mapping[Path, float]
) -> dict[str, Any]:
    """Replace the training text."""
    if not corpora.get("validation") and held_out is not None:
        # The teacher has not learnt from it, but it is in the text that the teacher is given now.
        corpora = {**corpora, "validation": [{"path": as_setting(held_out)}], "overlap": "drop"}
    train = [{"path": as_setting(path), "weight": weight} for path, weight in pairs.items()]
    return {**corpora, "train": train}
