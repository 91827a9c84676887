"""The recipe of a fine-tuning: the model's own, with other text and a short, gentle training."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.batched import batched
from dragoman.config import from_table, set_key, to_table
from dragoman.corpora.batching_config import with_length
from dragoman.corpora.clean_text import clean_corpora
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.fingerprint import comparable, fingerprint_corpus
from dragoman.corpora.text_file import CorpusError, as_setting
from dragoman.errors import UsageError
from dragoman.model_directory import ModelDirectory
from dragoman.recipe import Recipe, recipe_from_table, recorded_recipe, vocabulary_of
from dragoman.tokenizers.config import IMPORTED

RATE_TIMES_WIDTH = 0.25
"""For the learning rate of AdamW, which falls linearly to zero, and a model that was trained here:
wider models need smaller rates. With a width of 256, 1e-3 was better than 3e-4 and 3e-3
(`docs/experiments.md`)."""

RATE_OF_IMPORT_TIMES_WIDTH = 0.025
"""Imported models have mostly been trained for long and are easily spoilt; a rule of thumb."""

FEWEST_UPDATES_PER_EPOCH = 25
"""A small text gets small updates."""

SMALLEST_UPDATE = 256
"""Target tokens."""

WARMUP_SHARE, VALIDATIONS, SEARCHES = 0.1, 10, 2

ENCODED_AT_ONCE = 4096

FORGETS = "the model may forget some of what it knows, as it does not see its old text"


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

    keep: bool | None = None
    """Whether each epoch also has text that the model has learnt from, as much of it as of the
    pairs, so that it forgets less; None for where that text is at hand."""

    assignments: tuple[str, ...] = ()
    """Changes to the recipe, as section.key=value; what they do not name follows from them."""

    def to_table(self) -> dict[str, Any]:
        """Return all that determines the new model, in the types that JSON reads back."""
        return {
            "model": str(self.model),
            "pairs": list(self.pairs),
            "epochs": self.epochs,
            "keep": self.keep,
            "assignments": list(self.assignments),
        }


def finetuning_recipe(order: FineTuning) -> tuple[Recipe, list[str]]:
    """Write the recipe of a fine-tuning.

    Sizes and vocabulary are the model's. Validation text is held out from the pairs; the model's
    test text stays, unless it has changed, to show what else the training does.

    Returns:
        The recipe, and what should be said about it.

    Raises:
        UsageError: an assignment is wrong, or there is no text to keep.
        ModelError: the model's own recipe cannot be read, or it is an ensemble.
        CorpusError: the text cannot be read, or a recipe cannot name the model.
    """
    model = ModelDirectory(order.model)
    model.refuse_ensemble()
    try:
        named = {assignment.partition("=")[0].strip() for assignment in order.assignments}
        _check(named, keep=order.keep)
        table, remarks = _table(model, order)
        kept, why_not = ([], []) if "corpora.train" in named else _old_text(model, order.keep)
        for assignment in order.assignments:
            set_key(table, assignment)
        if "training.metric" in named and "training.search_every" not in named:
            table["training"]["search_every"] = 1  # whatever the metric, each validation has it
        tokens, of_old_text = _count(model, table, kept, must_keep=order.keep is True)
        remarks += [*why_not, *of_old_text]
        recipe = recipe_from_table(table)
        for key, value in _length(recipe, sum(tokens), order.epochs, named):
            section, _, name = key.partition(".")
            table[section][name] = value
        return recipe_from_table(table), remarks
    except UsageError as error:
        raise UsageError(f"the fine-tuning of {model.path}: {error}") from error


def _check(named: set[str], *, keep: bool | None) -> None:
    """Refuse assignments that would do nothing, or take back what is kept."""
    if "model.preset" in named:
        raise UsageError("model.preset cannot change a model that has learnt; leave it out")
    if keep and "corpora.train" in named:
        raise UsageError("--keep and corpora.train both name old text; leave one of them out")


def _table(model: ModelDirectory, order: FineTuning) -> tuple[dict[str, Any], list[str]]:
    """Adapt the recipe recorded in the model's description; an import has a search alone."""
    description = model.description
    recipe = recorded_recipe(model)
    table: dict[str, Any] = to_table(recipe) if recipe else {"search": dict(description.search)}
    table.pop("licence", None)  # of the text that it has learnt from before
    trained = table.get("training", {})
    batching = {} if trained.get("from_model") else table.get("batching", {})
    is_imported = description.tokenizer.kind == IMPORTED  # perhaps fine-tuned here before
    rate = RATE_OF_IMPORT_TIMES_WIDTH if is_imported else RATE_TIMES_WIDTH
    files = description.training.get("sha256", {})
    corpora, remarks = _corpora(table.get("corpora", {}), files, order)
    return table | {
        "source_language": description.source_language,
        "target_language": description.target_language,
        "model": to_table(description.model),
        "tokenizer": vocabulary_of(model) | {"byte_fallback": description.tokenizer.byte_fallback},
        "corpora": corpora,
        "batching": with_length(batching, description.max_length),
        "training": {
            "from_model": as_setting(model.path),
            "label_smoothing": trained.get("label_smoothing", 0.1),
            "learning_rate": rate / description.model.d_model,
            "schedule": "linear",
            "search_every": VALIDATIONS // SEARCHES,
        },
    }, remarks


def _corpora(
    table: dict[str, Any], files: dict[str, str], order: FineTuning
) -> tuple[dict[str, Any], list[str]]:
    """Replace the text that is learnt from, and leave out test text that has changed.

    Args:
        table: The recorded corpora.
        files: The checksums that their files had.
        order: Says what is learnt from.
    """
    tests, remarks = [], []
    for corpus in table.get("test", []):
        if objection := _objection(corpus, files, "tested on"):
            remarks.append(f"not tested on {objection}")
        else:
            tests.append(corpus)
    train = [{"path": path} for path in order.pairs]
    return {**table, "train": train, "validation": [], "test": tests}, remarks


def _old_text(model: ModelDirectory, keep: bool | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Name the text that the model has learnt from, of which nothing is held out.

    Returns:
        The corpora, and if there are none, what should be said about it.

    Raises:
        UsageError: it is to be kept, and is not recorded or no longer there.
    """
    recipe = recorded_recipe(model)
    learnt = to_table(recipe)["corpora"]["train"] if recipe else []
    reason = "--no-keep" if keep is False else _why_gone(model, learnt)
    if reason is None:
        return [{**corpus, "hold_out": False} for corpus in learnt], []
    if keep:
        raise UsageError(
            f"--keep: {reason}; bring it back, run this from where the model was trained, or name "
            "old text with --set 'corpora.train=[{path=...}, {path=..., hold_out=false}]'"
        )
    return [], [f"{FORGETS} ({reason})"] if learnt else []


def _why_gone(model: ModelDirectory, learnt: Sequence[dict[str, Any]]) -> str | None:
    """Say why the text that a model has learnt from is not at hand; None if it is."""
    files = model.description.training.get("sha256", {})
    objections = (_objection(corpus, files, "trained on") for corpus in learnt)
    if not learnt:
        return "the model does not say what it has learnt from"
    return next(filter(None, objections), None)


def _objection(corpus: dict[str, Any], files: dict[str, str], done: str) -> str | None:
    """Say which file of a corpus is missing or differs; a path may lead elsewhere now."""
    try:
        found = comparable(fingerprint_corpus(from_table(CorpusConfig, corpus)), files)
    except CorpusError as error:
        return str(error)
    for name, sha256 in found.items():
        if sha256 != files.get(name):
            return f"{name}: it is not the file that the model was {done}"
    return None


def _count(
    model: ModelDirectory, table: dict[str, Any], kept: list[dict[str, Any]], *, must_keep: bool
) -> tuple[list[float], list[str]]:
    """Add old text to a recipe, and count the tokens of each corpus in an epoch.

    Old text that is there may still be of no use: it is on a hub that nobody answers from, or would
    give away sentences of other validation text. Then the recipe goes without, unless it must not.

    Returns:
        The tokens, and what should be said about the old text.
    """
    new = table["corpora"]["train"]
    remarks = []
    if kept:
        table["corpora"]["train"] = [*new, *kept]
        try:
            tokens = list(_weighted_tokens(model, recipe_from_table(table)))
            return tokens, [_balance(table["corpora"]["train"], tokens, len(new))]
        except CorpusError as error:
            if must_keep:
                raise
            table["corpora"]["train"] = new
            remarks = [f"{FORGETS} ({error})"]
    return list(_weighted_tokens(model, recipe_from_table(table))), remarks


def _balance(train: list[dict[str, Any]], tokens: list[float], num_new: int) -> str:
    """Weigh old text so that an epoch has no more of it than of the new text, and say so.

    Args:
        train: The corpora, of which the first are new.
        tokens: Those of each in an epoch; the numbers of the old ones change with their weights.
        num_new: How many corpora are new.
    """
    new, old = sum(tokens[:num_new]), sum(tokens[num_new:])
    share = min(1.0, new / old) if old else 1.0
    all_old = 0.0  # each sentence once
    for place in range(num_new, len(train)):
        all_old += tokens[place] / train[place]["weight"]
        train[place]["weight"] *= share
        tokens[place] *= share
    kept = sum(tokens[num_new:]) / all_old if all_old else 1.0
    return (
        f"each epoch also has {kept:.2%} of the text that the model has learnt from, so that it "
        "forgets less; --no-keep leaves it out, which takes less time"
    )


def _length(
    recipe: Recipe, num_tokens: float, epochs: float, named: set[str]
) -> Iterator[tuple[str, int]]:
    """Choose the size and the number of updates, where they are not given."""
    if not num_tokens:
        raise CorpusError(
            "what cleaning leaves of the pairs has no sentence that the model could learn from; "
            "dragoman corpus check says what it leaves out, and the model takes at most "
            f"{recipe.batching.max_length} tokens"
        )
    size, updates = recipe.batching.tokens_per_update, recipe.training.updates
    if "batching.tokens_per_update" not in named:
        size = min(size, max(SMALLEST_UPDATE, round(num_tokens / FEWEST_UPDATES_PER_EPOCH)))
        yield "batching.tokens_per_update", size
    if "training.updates" not in named:
        in_epoch = max(1.0, num_tokens / size)  # an update holds no pair twice
        updates = max(1, round(epochs * in_epoch))
        yield "training.updates", updates
    if "training.warmup_updates" not in named:
        yield "training.warmup_updates", max(1, round(WARMUP_SHARE * updates))
    if "training.validate_every" not in named:
        yield "training.validate_every", math.ceil(updates / VALIDATIONS)


def _weighted_tokens(model: ModelDirectory, recipe: Recipe) -> Iterator[float]:
    """Count the target tokens that an epoch would have of each corpus, after cleaning.

    A translation memory may hold each of its pairs several times.
    """
    tokenizer, longest = model.load_tokenizers().target, recipe.batching.max_length
    for corpus in clean_corpora(recipe.corpora, recipe.cleaning, recipe.languages):
        num_tokens = 0
        for block in batched(corpus.pairs, ENCODED_AT_ONCE):
            lengths = map(len, tokenizer.encode_batch([target for _, target in block]))
            num_tokens += sum(length + 1 for length in lengths if length <= longest)
        yield corpus.config.weight * num_tokens
