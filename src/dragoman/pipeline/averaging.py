"""One model from several that grew from the same weights: the mean of theirs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import UsageError
from dragoman.interop.staging import staging
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.combining import CombinationError, Part, check_combinable, save_combined
from dragoman.pipeline.initial_weights import BLOCK
from dragoman.training.averaging import Weights, weights_of

LEAST_LIKENESS = 0.25
"""Another seed of one recipe and vocabulary had 0.00, another vocabulary 0.1, and what had gone on
from one model 0.4 and more (`docs/experiments.md`, 2026-11-29)."""

REMEDY = "average models that were fine-tuned or trained further from one"


@dataclass(frozen=True, kw_only=True)
class AveragedPart(Part):
    """One of the models that were averaged."""

    likeness: float
    """Cosine of the angle between the matrices of its layers and those of the first model."""


def average_models(
    models: Sequence[Path], output: Path, shares: Sequence[float] = ()
) -> list[AveragedPart]:
    """Write a model whose weights are the mean of those of several models.

    All must have grown from the same weights: by fine-tuning, by distillation from one model's
    layers, or by going on with other text. Their mean may then translate better than each (Wortsman
    et al. 2022, arXiv 2203.05482), and that of a model and a fine-tuned one has forgotten less than
    the second (Wortsman et al. 2022, arXiv 2109.01903). `benchmarks/distillation.md` and
    `docs/finetuning.md` have measurements.

    Args:
        models: Two directories or more. Search settings are those of the first, and the
            recipe is that of the first one that has one.
        output: The model directory to write, which must not exist yet.
        shares: One positive number for each model, divided by their sum; by default, all are equal.

    Raises:
        UsageError: there are too few models, or the shares are not as they should be.
        ModelError: a model is missing or damaged, or an ensemble.
        CombinationError: two of them have different languages, vocabularies or sizes, the same
            weights, or did not grow from the same ones.
        OutputError: the output exists, or cannot be written.
    """
    directories = [ModelDirectory(model) for model in models]
    check_combinable(directories, REMEDY)
    parts_of_one = _normalise(shares or [1.0] * len(models), len(models))
    with staging(output) as unfinished:
        mean, parts = _average(directories, parts_of_one)
        save_combined(directories, parts, mean, unfinished)
    return parts


def _normalise(shares: Sequence[float], count: int) -> list[float]:
    if len(shares) == count and all(0 < share < math.inf for share in shares):
        of_largest = [share / max(shares) for share in shares]
        of_one = [share / sum(of_largest) for share in of_largest]
        if 0 not in of_one:
            return of_one
    raise UsageError(
        f"give each of the {count} models a positive share of its own, as in --share 1 --share 3, "
        "or leave out --share"
    )


def _average(
    directories: Sequence[ModelDirectory], shares: Sequence[float]
) -> tuple[Weights, list[AveragedPart]]:
    """Add up the weights in double precision, with one model in memory beside the first.

    Raises:
        CombinationError: a model did not grow from the same weights as the first.
    """
    beginning: Weights = {}
    total: Weights = {}
    parts = []
    for directory, share in zip(directories, shares, strict=True):
        weights = weights_of(directory.load_transformer())
        beginning = beginning or weights
        likeness = _likeness(beginning, weights)
        if likeness < LEAST_LIKENESS:
            raise CombinationError(
                f"{directory.path}: its layers have nothing in common with those of "
                f"{directories[0].path} (cosine {likeness:.2f}), so their mean would know nothing; "
                f"{REMEDY}, or let them decide together (dragoman ensemble)"
            )
        for name, tensor in weights.items():
            added = share * tensor.double()
            total[name] = total[name] + added if name in total else added
        part = AveragedPart(
            model=str(directory.path),
            share=share,
            weights_sha256=directory.description.weights_sha256,
            likeness=likeness,
        )
        parts.append(part)
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
