"""Several models combined into one: what they must share, and what is recorded of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.durable import write_atomically
from dragoman.errors import DragomanError, UsageError
from dragoman.model_directory import ModelDescription, ModelDirectory, save_model
from dragoman.pipeline.initial_weights import other_sizes
from dragoman.pipeline.model_card import CARD, model_card
from dragoman.recipe import recorded_recipe
from dragoman.training.averaging import Weights


class CombinationError(DragomanError):
    """Models cannot be combined."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of several models."""

    model: str
    """Its directory, as it was named."""

    share: float
    """Its part in the combination, from 0 to 1."""

    weights_sha256: str


def check_combinable(directories: Sequence[ModelDirectory], remedy: str) -> None:
    """Compare models that are to be combined.

    Args:
        directories: The models.
        remedy: What helps if vocabularies or sizes differ, for messages.

    Raises:
        UsageError: there are too few.
        ModelError: one of them is an ensemble.
        CombinationError: two of them have different languages, vocabularies or sizes, or the same
            weights.
    """
    if len(directories) < 2:  # noqa: PLR2004
        raise UsageError("name two models or more, as one alone stays what it is")
    directories[0].refuse_ensemble()
    for i, other in enumerate(directories[1:], start=1):
        other.refuse_ensemble()
        if objection := _objection(directories[:i], other, remedy):
            raise CombinationError(f"{other.path}: it {objection}")


def _objection(earlier: Sequence[ModelDirectory], other: ModelDirectory, remedy: str) -> str | None:
    """Say why a model does not go with those before it, which do; None if it does."""
    first = earlier[0]
    ours, theirs = first.description, other.description
    for one in earlier:
        if one.description.weights_sha256 == theirs.weights_sha256:
            return f"has the same weights as {one.path}; leave one out"
    if ours.languages != theirs.languages:
        return (
            f"translates {' to '.join(theirs.languages)}, not {' to '.join(ours.languages)}; name "
            "models of the same languages"
        )
    if (ours.tokenizer, ours.special_ids) != (theirs.tokenizer, theirs.special_ids):
        return f"has another vocabulary than {first.path}; {remedy}"
    if changed := other_sizes(ours.model, theirs.model, ()):
        sizes = "; ".join(f"model.{key}: {change}" for key, change in changed.items())
        return f"has other sizes than {first.path} ({sizes}); {remedy}"
    return None


def save_combined(
    directories: Sequence[ModelDirectory],
    parts: Sequence[Part],
    weights: Weights,
    output: Path,
    *,
    ensemble_of: int | None = None,
) -> ModelDescription:
    """Write what models were combined into, with its card.

    Search settings are those of the first, and the recipe is that of the first one that has one.

    Args:
        directories: The models.
        parts: The same, as they are recorded.
        weights: What they were combined into.
        output: An empty directory.
        ensemble_of: How many there are, if they stay apart.
    """
    first = directories[0]
    description = replace(
        first.description,
        ensemble_of=ensemble_of,
        max_length=min(one.description.max_length for one in directories),
        alignment=None,  # of other weights, like the shortlist
        shortlist=None,
        training=_record(directories, parts),
        software={},
    )
    written = save_model(output, description, first.load_tokenizers(), weights)
    if "recipe" in written.training:
        card = model_card(written, written.training["recipe"].get("licence", ""))
        write_atomically(output / CARD, card)
    return written


def _record(directories: Sequence[ModelDirectory], parts: Sequence[Part]) -> dict[str, Any]:
    """Say where a model comes from: what is known of each part, and what is common to them.

    The recipe is that of the first one that has one, with the training text of all: to fine-tune or
    distil what they were combined into. Imported models have none. There are no scores, as nobody
    has measured any.

    Raises:
        ModelError: this version of Dragoman does not understand a recipe.
    """
    trainings = [directory.description.training for directory in directories]
    models = [
        {
            "model": part.model,
            "share": part.share,
            "weights_sha256": part.weights_sha256,
            "training": training,
        }
        for part, training in zip(parts, trainings, strict=True)
    ]
    known = [
        training
        for directory, training in zip(directories, trainings, strict=True)
        if recorded_recipe(directory)
    ]
    if not known:
        return {"models": models}
    recipe = known[0]["recipe"]
    learnt: dict[tuple[str, ...], dict[str, Any]] = {}
    sha256: dict[str, str] = {}
    for training in known:
        for corpus in training["recipe"]["corpora"]["train"]:
            files = tuple(str(corpus.get(key)) for key in ("path", "source", "target"))
            learnt.setdefault(files, corpus)
        sha256 = {**training.get("sha256", {}), **sha256}
    licences = {training["recipe"].get("licence", "") for training in known}
    is_stated = len(known) == len(trainings) and "" not in licences
    summaries = [corpus for training in known for corpus in training.get("corpora", [])]
    return {
        "models": models,
        "recipe": {
            **recipe,
            "corpora": {**recipe["corpora"], "train": list(learnt.values())},
            "licence": "; ".join(sorted(licences)) if is_stated else "",
        },
        "corpora": [one for i, one in enumerate(summaries) if one not in summaries[:i]],
        "sha256": sha256,
        "scores": {},
    }
