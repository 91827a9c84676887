"""`dragoman train`: from a recipe to a model directory."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

STOPPED = 128
"""Added to the number of the signal that stopped a run, as a shell does."""


def train(
    recipe: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
) -> int:
    """Train a model, or go on with an unfinished run of the same recipe.

    Interrupt it at any time: it saves, and the same command goes on from there.

    For example:

        dragoman train my.toml -o runs/mine --set training.updates=2000 --set model.dropout=0.2
        torchrun --nproc-per-node 2 -m dragoman train my.toml

    Parameters
    ----------
    recipe
        A TOML file: languages, corpora, and what differs from the defaults.
    output
        The model directory; `runs/` and the name of the recipe where it is left out.
    set_
        Change a setting of the recipe, as section.key=value; may be given several times.
    """
    from dragoman.pipeline.run import train_model
    from dragoman.recipe import load_recipe
    from dragoman.training.display import ConsoleDisplay, LastingConsole

    directory = output or Path("runs") / recipe.stem
    stopped_by = train_model(
        load_recipe(recipe, set_), directory, ConsoleDisplay(LastingConsole(stderr=True))
    )
    return 0 if stopped_by is None else STOPPED + stopped_by
