"""All the settings of a run: what a recipe file holds."""

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from dragoman.config import from_table, nearest, read_table, set_key
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.config import CleaningConfig, CorporaConfig
from dragoman.corpora.text_file import as_setting
from dragoman.decoding.config import SearchConfig
from dragoman.errors import DragomanError, UsageError
from dragoman.evaluation.config import EvaluationConfig, usual_evaluation
from dragoman.languages.codes import is_language_code, language_code, same_language
from dragoman.model.config import LARGEST, PRESETS, STUDENTS, TransformerConfig
from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory, ModelError
from dragoman.tokenizers.config import IMPORTED, TokenizerConfig
from dragoman.training.config import TrainingConfig

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides what a run produces."""

    source_language: str
    """A language code, such as `en`."""

    target_language: str
    """A language code, such as `it`."""

    corpora: CorporaConfig
    cleaning: CleaningConfig = field(default_factory=CleaningConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    model: TransformerConfig = field(default_factory=TransformerConfig)
    """`model.preset` names what the section starts from, such as tiny, small, base or big."""

    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    seed: int = 1
    """Decides the initial weights, the order of batches, dropout, and what is drawn from the text:
    other subwords (`tokenizer.sampling`), and parts of corpora with a fraction as `weight`."""

    licence: str = ""
    """Licence of the training text, for the model card."""

    def __post_init__(self) -> None:
        # Marian has two tokenizers, which may share one vocabulary.
        if self.tokenizer.kind != IMPORTED and self.tokenizer.joint != (
            self.model.tied_embeddings == "all"
        ):
            raise ValueError(
                f"tokenizer.joint = {str(self.tokenizer.joint).lower()} does not go with "
                f"model.tied_embeddings = {self.model.tied_embeddings!r}: one vocabulary goes "
                "with 'all', two with 'target' or 'none'"
            )
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"seed = {self.seed} is not between 0 and {LARGEST_SEED}")
        model = self.model
        if self.training.r_drop and not (
            model.dropout or model.attention_dropout or model.feed_forward_dropout
        ):
            raise ValueError(
                f"training.r_drop = {self.training.r_drop} needs model.dropout or another dropout "
                "above 0: without any, both predictions are the same"
            )
        for name in ("source_language", "target_language"):
            _check_language(name, getattr(self, name))
        if same_language(self.source_language, self.target_language):
            raise ValueError(
                f"source_language and target_language are both {self.source_language!r}; "
                "a translator has two languages"
            )

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target."""
        return self.source_language, self.target_language


def _check_language(name: str, code: str) -> None:
    """Reject what is not a language code, as the code decides scripts and tokenizations."""
    if not code.strip():
        raise ValueError(f"{name} is empty; name it by its code, as en")
    if known := language_code(code):
        raise ValueError(f"{name} = {code!r} is the name of a language; write its code, {known}")
    if not is_language_code(code):
        raise ValueError(f"{name} = {code!r} is not a language code; write it as en or pt_BR")


class ReadRecipe(NamedTuple):
    """A recipe file, read once, so that it may be a pipe."""

    recipe: Recipe
    written: dict[str, Any]
    """What the file says, as nested tables."""

    given: dict[str, Any]
    """The same, with the assignments applied."""


def read_recipe(path: Path, assignments: tuple[str, ...] = ()) -> ReadRecipe:
    """Read a recipe file and apply `section.key=value` assignments to it.

    Raises:
        DragomanError: there is no such file, or it is a directory.
        UsageError: the file or an assignment is wrong; the message names the key.
    """
    if path.is_dir():
        again = path / "recipe.toml"
        raise DragomanError(
            f"{path}: a directory, where a recipe is expected"
            + (
                f"; dragoman train {quote(str(again))} -o {quote(str(path))} goes on with its run"
                if again.is_file()
                else ", which is a TOML file"
            )
        )
    try:
        written = read_table(path)
    except UsageError as error:
        if path.suffix == ".toml":
            raise
        raise UsageError(
            f"{error}; a recipe is one, and dragoman plan writes it for a text"
        ) from error
    given = deepcopy(written)
    for assignment in assignments:
        set_key(given, assignment)
    try:
        recipe = recipe_from_table(given)
        if replaced := _replaced_sizes(written, given, assignments):
            raise UsageError(
                f"model.preset = {given['model']['preset']!r} does not change "
                f"{', '.join(replaced)}, which the file says; take that out of the file, or set it "
                "too"
            )
        return ReadRecipe(recipe, written, given)
    except UsageError as error:
        blamed = " with ".join([str(path), *(f"--set {text}" for text in assignments)])
        raise UsageError(f"{blamed}: {error}") from error


def _replaced_sizes(
    written: dict[str, Any], given: dict[str, Any], assignments: tuple[str, ...]
) -> list[str]:
    """List the sizes of an assigned preset that a recipe file replaces by its own.

    Within a file, a size beside a preset is meant. But the recipe that a run writes has all sizes,
    and would train the same model whatever preset is assigned.
    """
    assigned = {assignment.partition("=")[0].strip() for assignment in assignments}
    name_of_preset = given.get("model", {}).get("preset")
    if "model.preset" not in assigned or name_of_preset == written.get("model", {}).get("preset"):
        return []
    preset = (PRESETS | STUDENTS)[name_of_preset]
    sizes = {name: preset.get(name, getattr(TransformerConfig, name)) for name in LARGEST}
    return [
        f"model.{name} = {value}"
        for name, value in written.get("model", {}).items()
        if f"model.{name}" not in assigned and value != sizes.get(name, value)
    ]


def recipe_from_table(table: dict[str, Any]) -> Recipe:
    """Build a recipe from nested tables.

    `model.preset` is resolved; the target language decides `evaluation.tokenize` and
    `evaluation.metrics` if they are left out.
    """
    model = table.get("model", {})
    if isinstance(model, dict) and "preset" in model:
        name, presets = model["preset"], PRESETS | STUDENTS
        if not isinstance(name, str) or name not in presets:
            close = nearest(str(name), list(presets))
            hint = f"did you mean {close!r}?" if close else f"the presets are {', '.join(presets)}"
            raise UsageError(f"unknown model.preset {name!r}; {hint}")
        rest = {key: value for key, value in model.items() if key != "preset"}
        table = {**table, "model": {**presets[name], **rest}}
    evaluation = table.get("evaluation", {})
    if isinstance(evaluation, dict):
        usual = usual_evaluation(str(table.get("target_language", "")))
        table = {**table, "evaluation": {**usual, **evaluation}}
    return from_table(Recipe, table)


def recorded_recipe(model: ModelDirectory) -> Recipe | None:
    """Read the recipe that a model was trained with; an imported model has none.

    Raises:
        ModelError: this version of Dragoman does not understand the recipe.
    """
    recorded = model.description.training.get("recipe")
    if not isinstance(recorded, dict):
        return None
    try:
        return recipe_from_table(recorded)
    except UsageError as error:
        raise ModelError(f"{model.path / DESCRIPTION_NAME}: training.recipe.{error}") from error


def vocabulary_of(model: ModelDirectory) -> dict[str, Any]:
    """Write the `tokenizer` section of a recipe that reuses the vocabulary of a model.

    Raises:
        CorpusError: a recipe cannot name the model.
    """
    description = model.description.tokenizer
    return {
        "kind": description.kind,
        "joint": description.joint,
        "lowercase": description.lowercase,
        "from_model": as_setting(model.path),
    }


def differences(old: dict[str, Any], new: dict[str, Any], at: str = "") -> dict[str, str]:
    """Find the keys in which two nested tables differ, and say how the value of each changed.

    Tables in a list, such as corpora, are compared with those of the same number, from 1.
    """
    found: dict[str, str] = {}
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        one, other = _as_table(before), _as_table(after)
        if one is not None and other is not None:
            found |= differences(one, other, f"{at}{key}.")
        elif before != after:
            found[f"{at}{key}"] = f"{before!r} became {after!r}"
    return found


def _as_table(value: Any) -> dict[str, Any] | None:
    """Return a table, that of the tables in a list by their numbers, or None."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return {str(number): each for number, each in enumerate(value, 1)}
    return value if isinstance(value, dict) else None
