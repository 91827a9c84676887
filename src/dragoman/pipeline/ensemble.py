"""One model directory from several models that are to decide together."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.interop.staging import staging
from dragoman.model.ensemble import Ensemble
from dragoman.model_directory import ModelDescription, ModelDirectory
from dragoman.pipeline.of_several import Part, check_parts, save_made_of
from dragoman.training.averaging import weights_of


def make_ensemble(models: Sequence[Path], output: Path) -> ModelDescription:
    """Write a model directory that holds several models, which decide together.

    Unlike a mean, an ensemble needs no common origin, and usually translates better than each of
    its models; but it takes as long as all of them. Distilled, it gives one model again (Freitag et
    al. 2017, arXiv 1702.01802). `benchmarks/ensembles.md` has measurements.

    Args:
        models: Two directories or more. Recipe and search settings are those of the first.
        output: The model directory to write, which must not exist yet.

    Raises:
        UsageError: there are too few models.
        ModelError: a model is missing or damaged, or an ensemble itself.
        PartError: two of them have different languages, vocabularies or sizes, or the same weights.
        OutputError: the output exists, or cannot be written.
    """
    directories = [ModelDirectory(model) for model in models]
    check_parts(directories, "train it with the same vocabulary and sizes, and another seed")
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
        return save_made_of(
            directories, parts, weights_of(ensemble), unfinished, ensemble_of=len(directories)
        )
