"""`dragoman train`: from a recipe to a model directory."""

from pathlib import Path

from dragoman.cli.options import Assignments, Minutes, OutputIfAny
from dragoman.cli.termination import end_by_exit
from dragoman.device import sleep_while_waiting
from dragoman.exit_codes import STOPPED


def train(
    recipe: Path,
    /,
    *,
    output: OutputIfAny = None,
    set_: Assignments = (),
    minutes: Minutes | None = None,
) -> int:
    """Train a model, or resume an unfinished run of the same recipe.

    You can interrupt it at any time: it saves, and the same command continues from there.

    A recipe without the sections tokenizer, cleaning, batching, model and training gets what
    `dragoman plan` would choose; several processes (torchrun) need a recipe that has them.

    For example:

        dragoman train my.toml -o runs/mine --minutes 30
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
        How long training may take, if sizes and schedule are planned; planning itself takes a few
        minutes. The default is 60.
    """
    sleep_while_waiting()
    from dragoman.recipe import read_recipe

    settings, written, given = read_recipe(recipe, set_)  # before PyTorch is loaded: seconds
    from dragoman.corpora.languages import warn_of_unknown
    from dragoman.errors import UsageError
    from dragoman.pipeline.run import train_model
    from dragoman.planning.planned_run import plan_run, sizes_of
    from dragoman.training.display import ConsoleDisplay
    from dragoman.training.distributed import rank

    directory = output or Path("runs") / recipe.stem
    display = ConsoleDisplay()
    if rank() == 0:
        warn_of_unknown(settings.languages, display.message)
    if not (sizes := sizes_of(given)):
        end_by_exit()
        settings = plan_run(given, directory, minutes, display.message)
    elif minutes is not None:
        raise UsageError(
            f"--minutes {minutes:g}: {recipe if sizes_of(written) else '--set'} has sizes of "
            f"its own ({', '.join(sizes)}); leave one or the other out"
        )
    elif ("model" not in given or not sizes_of(written)) and rank() == 0:
        display.message(
            f"nothing is planned, because these are given: {', '.join(sizes)}; settings left out "
            "have their defaults, which may suit neither text nor machine"
        )
    stopped_by = train_model(settings, directory, display)
    return 0 if stopped_by is None else STOPPED + stopped_by
