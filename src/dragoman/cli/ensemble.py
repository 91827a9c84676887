"""`dragoman ensemble`: several models that decide together."""

from pathlib import Path
from shlex import quote

from dragoman.cli.options import Output


def ensemble(model: Path, /, *more_models: Path, output: Output) -> None:
    """Put models into one directory, to decide together on each token.

    Train them with the recipe of the first one's run, which has the sizes, and several seeds.
    Together they usually translate better than each, but take as long as all of them, and need
    PyTorch. What translates, scores, serves or distils a model takes an ensemble, too: its student
    is one small model again. What looks inside a model, exports it or trains it further takes one
    model.

    `dragoman train --ensemble 2` trains two at the same time and puts them together by itself.

    For example:

        dragoman train my.toml -o runs/first
        dragoman train runs/first/recipe.toml -o runs/second --set seed=2
        dragoman ensemble runs/first runs/second -o runs/both
        dragoman distill runs/both pairs.tsv --student small-6-1 -o runs/taught-by-both

    Parameters
    ----------
    model
        A model directory, whose search settings the ensemble has, and its recipe if there is one.
    more_models
        More of them, with the same vocabulary and sizes.
    output
        The model directory to write, which must not exist yet.
    """
    from dragoman.pipeline.ensemble import make_ensemble

    models = (model, *more_models)
    make_ensemble(models, output)
    advise_to_compare(len(models), output, model)


def advise_to_compare(count: int, ensemble: Path, model: Path) -> None:
    """Say how to find out what several models are worth together."""
    compared = f"dragoman evaluate {quote(str(ensemble))} PAIRS --compare {quote(str(model))}"
    print(f"{count} models are in {ensemble}; to see what they are worth together: {compared}")
