"""`dragoman plan`: a recipe for a text, a machine and a time."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators


def plan(
    *pairs: str,
    languages: str,
    minutes: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 60,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Choose vocabulary, model, batches and schedule for a text, and predict what they take.

    The text is read, and a model that suits it and the time is trained for some seconds, so that
    the prediction is a measurement. The recipe has the reasons in front of it.

    For example:

        dragoman plan pairs.tsv --languages en-it --minutes 30 -o my.toml
        dragoman train my.toml

    Parameters
    ----------
    pairs
        The training text, in every form that a recipe's `corpora.train` takes as path.
    languages
        Source and target, as en-it.
    minutes
        How long the whole training may take on this machine.
    output
        The recipe to write; standard output where it is left out.
    json
        Write JSON, for programs.
    """
    from dragoman.config import RecipeError
    from dragoman.corpora.languages import parse_languages
    from dragoman.durable import write_atomically
    from dragoman.planning.plan import make_plan

    if not pairs:
        raise RecipeError("name the text to plan for: PAIRS")
    source, target = parse_languages(languages)
    table = {
        "source_language": source,
        "target_language": target,
        "corpora": {"train": [{"path": path} for path in pairs]},
    }
    made = make_plan(table, minutes, lambda message: print(message, file=sys.stderr))
    if output is not None:
        write_atomically(output, made.as_toml())
        for line in (
            *made.reasons,
            f"predicted: {made.minutes:.1f} minutes, {made.peak_mib:,.0f} MiB",
        ):
            print(line, file=sys.stderr)
    if json:
        from json import dumps

        print(dumps(vars(made), ensure_ascii=False))
    elif output is None:
        print(made.as_toml(), end="")
