"""`dragoman train`: from a recipe to a model directory."""

from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.options import Assignments, Count, Minutes, OutputIfAny
from dragoman.cli.termination import end_by_exit
from dragoman.device import sleep_while_waiting
from dragoman.exit_codes import STOPPED

if TYPE_CHECKING:
    from dragoman.corpora.clean_text import Say
    from dragoman.planning.shares import Shares
    from dragoman.recipe import ReadRecipe, Recipe


def train(
    recipe: Path,
    /,
    *,
    output: OutputIfAny = None,
    set_: Assignments = (),
    minutes: Minutes | None = None,
    ensemble: Count | None = None,
) -> int:
    """Train a model, or resume an unfinished run of the same recipe.

    You can interrupt it at any time: it saves, and the same command continues from there.

    A recipe without the sections tokenizer, cleaning, batching, model and training gets what
    `dragoman plan` would choose; several processes (torchrun) need a recipe that has them.

    For example:

        dragoman train my.toml -o runs/mine --minutes 30
        dragoman train my.toml -o runs/pair --minutes 30 --ensemble 2
        dragoman train planned.toml -o runs/mine --set training.updates=2000 --set model.dropout=0.2
        torchrun --nproc-per-node 2 -m dragoman train planned.toml

    Parameters
    ----------
    recipe
        A TOML file: languages, corpora, and what differs from the defaults.
    output
        The model directory; `runs/` and the name of the recipe if left out.
    set_
        Change a setting of the recipe, as section.key=value; may be given several times.
    minutes
        How long training may take, of all models with --ensemble, if sizes and schedule are
        planned; planning itself takes a few minutes. The default is 60.
    ensemble
        Train so many models, two or more, and put them together as `dragoman ensemble` does. Their
        seeds count up from that of the recipe, and each has its share of the processors and a
        directory beside the output. On one GPU, or with one thread, they take turns.
    """
    sleep_while_waiting()
    from dragoman.recipe import read_recipe

    read = read_recipe(recipe, set_)  # before PyTorch is loaded: seconds
    from dragoman.corpora.languages import warn_of_unknown
    from dragoman.pipeline.run import train_model
    from dragoman.training.display import ConsoleDisplay
    from dragoman.training.distributed import rank

    directory = output or Path("runs") / recipe.stem
    display = ConsoleDisplay()
    if rank() == 0:
        warn_of_unknown(read.recipe.languages, display.message)
    if ensemble is not None:
        return _train_ensemble(recipe, read, directory, ensemble, minutes, display.message)
    settings = _with_sizes(recipe, read, directory, minutes, display.message)
    stopped_by = train_model(settings, directory, display)
    return 0 if stopped_by is None else STOPPED + stopped_by


def _with_sizes(
    file: Path,
    read: "ReadRecipe",
    directory: Path,
    minutes: float | None,
    say: "Say",
    shares: "Shares | None" = None,
) -> "Recipe":
    """Plan the sizes that a recipe lacks.

    Raises:
        UsageError: a time is given, and there are sizes.
    """
    from dragoman.errors import UsageError
    from dragoman.planning.planned_run import plan_run, sizes_of
    from dragoman.planning.shares import ALONE
    from dragoman.training.distributed import rank

    if not (sizes := sizes_of(read.given)):
        end_by_exit()
        return plan_run(read.given, directory, minutes, say, shares or ALONE)
    is_written = bool(sizes_of(read.written))
    if minutes is not None:
        raise UsageError(
            f"--minutes {minutes:g}: {file if is_written else '--set'} has sizes of "
            f"its own ({', '.join(sizes)}); leave one or the other out"
        )
    if ("model" not in read.given or not is_written) and rank() == 0:
        say(
            f"nothing is planned, because these are given: {', '.join(sizes)}; settings left out "
            "have their defaults, which may suit neither text nor machine"
        )
    return read.recipe


def _train_ensemble(
    file: Path,
    read: "ReadRecipe",
    output: Path,
    count: int,
    minutes: float | None,
    say: "Say",
) -> int:
    """Train several models at once; sizes are planned for the share of the processors of one."""
    from dragoman.cli.ensemble import advise_to_compare
    from dragoman.errors import UsageError
    from dragoman.pipeline.ensemble_training import (
        directory_of_seed,
        is_finished,
        seeds_of,
        train_ensemble,
    )
    from dragoman.planning.shares import share_machine
    from dragoman.training.distributed import world_size

    if world_size() > 1:
        raise UsageError("--ensemble starts processes by itself; leave torchrun out")
    seeds = seeds_of(read.recipe, count)
    if is_finished(read.recipe, output, seeds):
        say(f"{output}: this ensemble is finished; nothing is left to do")
        return 0
    first = directory_of_seed(output, seeds[0])
    shares = share_machine(read.recipe.training.device, count)
    settings = _with_sizes(file, read, first, minutes, say, shares)
    stopped_by = train_ensemble(settings, output, seeds, shares.devices, say)
    if stopped_by is not None:
        return STOPPED + stopped_by
    advise_to_compare(count, output, first)
    return 0
