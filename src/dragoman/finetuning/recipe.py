"""The recipe of a fine-tuning: the model's own, with other text and a short, gentle training."""

from collections.abc import Iterator, Sequence
from typing import Any

from dragoman.config import UsageError, set_key, to_table
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.text_file import CorpusError, as_setting, expand
from dragoman.model_directory import ModelDirectory
from dragoman.recipe import Recipe, recipe_from_table

LEARNING_RATE_TIMES_WIDTH = 0.25
"""Of AdamW, falling in a line to zero: wider models bear smaller rates. With a width of 256, 1e-3
was better than 3e-4 and 3e-3 (`docs/experiments.md`)."""

FEWEST_UPDATES_PER_EPOCH = 25
"""Where the text is small, updates are."""

SMALLEST_UPDATE = 256
"""Target tokens."""

WARMUP_SHARE, VALIDATIONS = 0.1, 10

KEPT = ("label_smoothing", "precision", "compile", "parallelism", "device")
"""Settings of the model's own training that suit this one, too."""


def finetuning_recipe(
    model: ModelDirectory, pairs: Sequence[str], epochs: float, assignments: tuple[str, ...]
) -> tuple[Recipe, list[str]]:
    """Write the recipe of a fine-tuning.

    Sizes and vocabulary are the model's. Validation text is held out from the pairs; the model's
    test text stays, as far as it is at hand, to show what else the training does.

    Args:
        model: What is trained further.
        pairs: What it learns from, as a recipe's `corpora.train` names it.
        epochs: How many times it sees them.
        assignments: More changes, as section.key=value.

    Returns:
        The recipe, and what should be said of it.

    Raises:
        UsageError: an assignment is wrong.
        CorpusError: the pairs cannot be read, or a recipe cannot name the model.
    """
    description = model.description
    recorded = description.training.get("recipe")
    try:
        table = to_table(recipe_from_table(recorded)) if isinstance(recorded, dict) else {}
        table |= {
            "source_language": description.source_language,
            "target_language": description.target_language,
            "model": to_table(description.model),
            "tokenizer": _tokenizer(model),
        }
        table["corpora"], remarks = _corpora(table.get("corpora", {}), pairs)
        table["batching"] = {**table.get("batching", {}), "max_length": description.max_length}
        table["training"] = {
            **{name: value for name, value in table.get("training", {}).items() if name in KEPT},
            "from_model": as_setting(model.path),
            "learning_rate": LEARNING_RATE_TIMES_WIDTH / description.model.d_model,
            "schedule": "linear",
        }
        num_tokens = sum(_target_lengths(model, pairs))
        _set_length(table, num_tokens * epochs, num_tokens)
        for assignment in assignments:
            set_key(table, assignment)
        return recipe_from_table(table), remarks
    except UsageError as error:
        raise UsageError(f"the fine-tuning of {model.path}: {error}") from error


def _tokenizer(model: ModelDirectory) -> dict[str, Any]:
    description = model.description.tokenizer
    return {
        "kind": description.kind,
        "joint": description.joint,
        "lowercase": description.lowercase,
        "byte_fallback": description.byte_fallback,
        "from_model": as_setting(model.path),
    }


def _corpora(recorded: dict[str, Any], pairs: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Exchange the text that is learnt from, and leave out test text that is somewhere else."""
    tests, remarks = [], []
    for corpus in recorded.get("test", []):
        if missing := [name for name in _paths(corpus) if not _is_here(name)]:
            remarks.append(f"not tested on {missing[0]}, which is not here")
        else:
            tests.append(corpus)
    changed = {"train": [{"path": path} for path in pairs], "validation": [], "test": tests}
    return {**recorded, **changed}, remarks


def _paths(corpus: dict[str, Any]) -> Iterator[str]:
    for side in ("path", "source", "target"):
        name = corpus.get(side)
        if name is not None and not name.startswith("hf:"):
            yield name


def _is_here(name: str) -> bool:
    try:
        return expand(name).exists()
    except CorpusError:  # a variable in it is not defined
        return False


def _target_lengths(model: ModelDirectory, pairs: Sequence[str]) -> Iterator[int]:
    """Count the tokens of each target side that a training would see."""
    tokenizer, longest = model.load_tokenizers().target, model.description.max_length
    for path in pairs:
        texts = (
            pair.target
            for pair in read_pairs(CorpusConfig(path=path), languages=model.description.languages)
        )
        for text in texts:
            length = len(tokenizer.encode(text)) + 1
            if length <= longest:
                yield length


def _set_length(table: dict[str, Any], seen: float, num_tokens: int) -> None:
    """Choose the size of an update and how many there are."""
    if not num_tokens:
        raise CorpusError("the pairs have no sentence that the model could learn from")
    batching, training = table["batching"], table["training"]
    default = recipe_from_table(table).batching.tokens_per_update
    size = min(default, max(SMALLEST_UPDATE, num_tokens // FEWEST_UPDATES_PER_EPOCH))
    updates = max(1, round(seen / size))
    batching["tokens_per_update"] = size
    training |= {
        "updates": updates,
        "warmup_updates": round(WARMUP_SHARE * updates),
        "validate_every": max(1, updates // VALIDATIONS),
    }
