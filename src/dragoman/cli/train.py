"""`dragoman train`: from a recipe to a model directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

STOPPED = 130
PLAN = "plan.toml"


def train(
    recipe: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    minutes: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 60,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
) -> int:
    """Train a model, or go on with an unfinished run of the same recipe.

    Interrupt it at any time: it saves, and the same command goes on from there.

    A recipe that says neither which model to train nor for how many updates is planned first, as
    `dragoman plan` does, and the plan is kept in the model directory.

    For example:

        dragoman train my.toml -o runs/mine --set training.updates=2000 --set model.dropout=0.2
        torchrun --nproc-per-node 2 -m dragoman train my.toml

    Parameters
    ----------
    recipe
        A TOML file: languages, corpora, and what differs from the defaults.
    output
        The model directory; `runs/` and the name of the recipe where it is left out.
    minutes
        How long the training of a recipe without sizes may take.
    set_
        Change a setting of the recipe, as section.key=value; may be given several times.
    """
    from rich.console import Console

    from dragoman.pipeline.run import train_model
    from dragoman.recipe import load_recipe
    from dragoman.training.progress import ConsoleDisplay

    directory = output or Path("runs") / recipe.stem
    display = ConsoleDisplay(Console(stderr=True))
    chosen = _planned(recipe, set_, minutes, directory, display.message)
    finished = train_model(load_recipe(*chosen), directory, display)
    return 0 if finished else STOPPED


def _planned(
    recipe: Path,
    assignments: tuple[str, ...],
    minutes: float,
    directory: Path,
    say: Callable[[str], None],
) -> tuple[Path, tuple[str, ...]]:
    """Name the recipe to train: the user's, or the plan that was made of it, now or before."""
    from hashlib import sha256
    from json import dumps

    from dragoman.config import RecipeError
    from dragoman.durable import write_atomically
    from dragoman.planning.plan import leaves_sizes_open, make_plan
    from dragoman.recipe import load_recipe, load_table
    from dragoman.training.distributed import is_started_by_torchrun

    table = load_table(recipe, assignments)
    if not leaves_sizes_open(table):
        return recipe, assignments
    if is_started_by_torchrun():
        raise RecipeError(
            f"{recipe}: it says neither which model to train nor for how many updates, and several "
            "processes cannot plan together; plan it with dragoman plan first"
        )
    load_recipe(recipe, assignments)  # what is wrong with it is said before the work
    plan = directory / PLAN
    digest = sha256(dumps(table, sort_keys=True).encode()).hexdigest()
    mark = f"# Planned by dragoman train for the recipe {digest}\n"
    if not plan.exists() or not plan.read_text(encoding="utf-8").startswith(mark):
        made = make_plan(table, minutes, say)
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(plan, mark + made.as_toml())
        for line in made.reasons:
            say(line)
    return plan, ()
