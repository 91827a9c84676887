"""One model from several that grew from the same weights: the mean of theirs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.durable import write_atomically
from dragoman.errors import DragomanError, UsageError
from dragoman.interop.staging import staging
from dragoman.model_directory import ModelDirectory, save_model
from dragoman.pipeline.beginning import BLOCK, other_sizes
from dragoman.pipeline.model_card import CARD, model_card
from dragoman.recipe import recorded_recipe
from dragoman.training.averaging import Weights, weights_of

LEAST_LIKENESS = 0.25
"""Another seed of one recipe and vocabulary had 0.00, another vocabulary 0.1, and what had gone on
from one model 0.4 and more (`docs/experiments.md`, 2026-11-29)."""


class AveragingError(DragomanError):
    """Models have no mean that could translate."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of the models that were averaged."""

    model: str
    """Its directory, as it was named."""

    share: float
    """Its part of the mean, from 0 to 1."""

    weights_sha256: str

    likeness: float
    """Cosine of the angle between the matrices of its layers and those of the first model."""


def average_models(
    models: Sequence[Path], output: Path, shares: Sequence[float] = ()
) -> list[Part]:
    """Write a model whose weights are the mean of those of several models.

    All must have grown from the same weights: by fine-tuning, by distillation from one model's
    layers, or by going on with other text. Their mean may then translate better than each (Wortsman
    et al. 2022, arXiv 2203.05482), and that of a model and a fine-tuned one has forgotten less than
    the second (Wortsman et al. 2022, arXiv 2109.01903). `benchmarks/distillation.md` and
    `docs/finetuning.md` have measurements.

    Args:
        models: Two directories or more. Recipe and search settings are those of the first.
        output: The model directory to write, which must not exist yet.
        shares: One positive number for each model, divided by their sum; by default, all are equal.

    Raises:
        UsageError: there are too few models, or the shares are not as they should be.
        ModelError: a model is missing or damaged.
        AveragingError: two of them have different languages, vocabularies or sizes, the same
            weights, or did not grow from the same ones.
        OutputError: the output exists, or cannot be written.
    """
    parts_of_one = _normalise(shares or [1.0] * len(models), len(models))
    first, *others = directories = [ModelDirectory(model) for model in models]
    for i, other in enumerate(others, start=1):
        _check_weights(directories[:i], other)
        _check_form(first, other)
    with staging(output) as unfinished:
        mean, parts = _average(directories, parts_of_one)
        description = replace(
            first.description,
            max_length=min(one.description.max_length for one in directories),
            alignment=None,  # of other weights, like the shortlist
            shortlist=None,
            training=_record(directories, parts),
            software={},
        )
        written = save_model(unfinished, description, first.load_tokenizers(), mean)
        if "recipe" in written.training:
            card = model_card(written, written.training["recipe"].get("licence", ""))
            write_atomically(unfinished / CARD, card)
    return parts


def _normalise(shares: Sequence[float], count: int) -> list[float]:
    if count < 2:  # noqa: PLR2004
        raise UsageError("name two models or more, as the mean of one is that model")
    of_one = []
    if len(shares) == count and all(0 < share < math.inf for share in shares):
        of_largest = [share / max(shares) for share in shares]
        of_one = [share / sum(of_largest) for share in of_largest]
    if not of_one or 0 in of_one:
        raise UsageError(
            f"give each of the {count} models a positive share of its own, as in --share 1 "
            "--share 3, or leave out --share"
        )
    return of_one


def _check_weights(earlier: Sequence[ModelDirectory], other: ModelDirectory) -> None:
    for one in earlier:
        if one.description.weights_sha256 == other.description.weights_sha256:
            raise AveragingError(
                f"{other.path}: it has the same weights as {one.path}; leave one out"
            )


def _check_form(first: ModelDirectory, other: ModelDirectory) -> None:
    """Raise an error unless each weight of one model means the same in the other."""
    ours, theirs = first.description, other.description
    if ours.languages != theirs.languages:
        objection = f"translates {' to '.join(theirs.languages)}, not {' to '.join(ours.languages)}"
    elif (ours.tokenizer, ours.special_ids) != (theirs.tokenizer, theirs.special_ids):
        objection = f"has another vocabulary than {first.path}"
    elif changed := other_sizes(ours.model, theirs.model, ()):
        sizes = "; ".join(f"model.{key}: {change}" for key, change in changed.items())
        objection = f"has other sizes than {first.path} ({sizes})"
    else:
        return
    raise AveragingError(
        f"{other.path}: it {objection}; average models that were fine-tuned or trained further "
        "from one"
    )


def _average(
    directories: Sequence[ModelDirectory], shares: Sequence[float]
) -> tuple[Weights, list[Part]]:
    """Add up the weights in double precision, with one model in memory beside the first.

    Raises:
        AveragingError: a model did not grow from the same weights as the first.
    """
    beginning: Weights = {}
    total: Weights = {}
    parts = []
    for directory, share in zip(directories, shares, strict=True):
        weights = weights_of(directory.load_transformer())
        beginning = beginning or weights
        likeness = _likeness(beginning, weights)
        if likeness < LEAST_LIKENESS:
            raise AveragingError(
                f"{directory.path}: its layers have nothing in common with those of "
                f"{directories[0].path} (cosine {likeness:.2f}), so their mean would "
                "know nothing; average models that were fine-tuned or trained further from one"
            )
        for name, tensor in weights.items():
            added = share * tensor.double()
            total[name] = total[name] + added if name in total else added
        sha256 = directory.description.weights_sha256
        parts.append(
            Part(model=str(directory.path), share=share, weights_sha256=sha256, likeness=likeness)
        )
    return {name: tensor.float() for name, tensor in total.items()}, parts


def _likeness(ours: Weights, theirs: Weights) -> float:
    """Compute the cosine between two models' layers.

    Vectors are left out, as gains are all near one, and so are tables of tokens, which are somewhat
    alike in all models of a vocabulary.
    """
    names = [name for name, tensor in ours.items() if BLOCK.fullmatch(name) and tensor.dim() > 1]
    products = [
        [
            float((a.double() * b.double()).sum())
            for a, b in ((one, other), (one, one), (other, other))
        ]
        for one, other in ((ours[name], theirs[name]) for name in names)
    ]
    both, one, other = map(math.fsum, zip(*products, strict=True))
    return both / math.sqrt(one * other) if one and other else 0.0


def _record(directories: Sequence[ModelDirectory], parts: Sequence[Part]) -> dict[str, Any]:
    """Say where the mean comes from: what is known of each model, and what is common to them.

    The recipe is that of the first model that has one, with the training text of all: to fine-tune
    the mean, or to distil it. Imported models have none. There are no scores, as nobody has
    measured any.

    Raises:
        ModelError: this version of Dragoman does not understand a recipe.
    """
    trainings = [directory.description.training for directory in directories]
    averaged = [
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
        return {"averaged": averaged}
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
        "averaged": averaged,
        "recipe": {
            **recipe,
            "corpora": {**recipe["corpora"], "train": list(learnt.values())},
            "licence": "; ".join(sorted(licences)) if is_stated else "",
        },
        "corpora": [one for i, one in enumerate(summaries) if one not in summaries[:i]],
        "sha256": sha256,
        "scores": {},
    }
