"""`dragoman average`: one model from several that grew from one."""

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.options import Flag, Output
from dragoman.cli.text_output import print_json


def average(
    model: Path,
    /,
    *more_models: Path,
    output: Output,
    share: Annotated[tuple[float, ...], Parameter(negative=())] = (),
    json: Flag = False,
) -> None:
    """Average the weights of models that grew from one, into one as small and as fast as each.

    That may be a model and one that was fine-tuned from it: their mean has forgotten less. Or two
    models that went on from one with different text: their mean may be better than both. Models
    that were trained apart have no useful mean, even with the same recipe, and are refused.

    For example:

        dragoman average runs/en-it runs/en-it-mine -o runs/en-it-both
        dragoman average runs/en-it runs/en-it-mine --share 1 --share 3 -o runs/en-it-more

    Parameters
    ----------
    model
        A model directory, whose search settings the mean has, and its recipe if there is one.
    more_models
        More of them.
    output
        The model directory to write, which must not exist yet.
    share
        How much of each model is in the mean, compared with the others: once for each, in their
        order; all have the same share if left out.
    json
        Print one JSON object, for programs.
    """
    from dragoman.pipeline.averaging import average_models

    parts = average_models((model, *more_models), output, share)
    if json:
        print_json({"output": str(output), "averaged": [asdict(part) for part in parts]})
        return
    first, *others = parts
    print(f"{100 * first.share:5.3g}% of {first.model}")
    for part in others:
        likeness = f"its layers are like those of the first, cosine {part.likeness:.2f}"
        print(f"{100 * part.share:5.3g}% of {part.model} ({likeness})")
    compared = f"dragoman evaluate {quote(str(output))} PAIRS --compare {quote(str(model))}"
    print(f"their mean is in {output}; to see what it is worth: {compared}")
