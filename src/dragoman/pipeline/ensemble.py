"""One model directory from several models that are to decide together."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import UsageError
from dragoman.interop.staging import staging
from dragoman.model.ensemble import Ensemble
from dragoman.model_directory import MOST_MEMBERS, ModelDirectory
from dragoman.pipeline.combining import Part, check_combinable, save_combined
from dragoman.pipeline.run_directory import RECIPE_FILE
from dragoman.training.averaging import weights_of


def make_ensemble(models: Sequence[Path], output: Path) -> None:
    """Write a model directory that holds several models, which decide together.

    Unlike a mean, an ensemble needs no common origin, and usually translates better than each of
    its models; but it takes as long as all of them. Distilled, it gives one model again (Freitag et
    al. 2017, arXiv 1702.01802). `benchmarks/ensembles.md` has measurements.

    Args:
        models: From 2 to 64 directories. Search settings are those of the first, and the recipe is
            that of the first one that has one.
        output: The model directory to write, which must not exist yet.

    Raises:
        UsageError: there are too few models, or too many.
        ModelError: a model is missing or damaged, or an ensemble itself.
        CombinationError: two of them have different languages, vocabularies or sizes, or the same
            weights.
        OutputError: the output exists, or cannot be written.
    """
    if len(models) > MOST_MEMBERS:
        raise UsageError(f"an ensemble of {len(models)} is too large; name at most {MOST_MEMBERS}")
    directories = [ModelDirectory(model) for model in models]
    check_combinable(directories, _remedy(models[0]) if models else "")
    parts = [
        Part(
            model=str(directory.path),
            share=1 / len(directories),
            weights_sha256=directory.description.weights_sha256,
        )
        for directory in directories
    ]
    with staging(output) as unfinished:
        ensemble = Ensemble([directory.load_transformer() for directory in directories])
        save_combined(
            directories, parts, weights_of(ensemble), unfinished, ensemble_of=len(directories)
        )


def _remedy(first: Path) -> str:
    """Say how to get a model that can decide together with the first."""
    recipe = first / RECIPE_FILE
    given = (
        f"{recipe}, which has the vocabulary and sizes,"
        if recipe.is_file()  # not beside an imported model, or one that was only copied
        else f"the vocabulary and sizes of {first}"
    )
    return f"train it with {given} and a seed of its own (--set seed=2)"
