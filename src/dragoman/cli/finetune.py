"""`dragoman finetune`: a finished model learns from text of your own."""

import math
from pathlib import Path

from dragoman.cli.options import Assignments, OutputIfAny
from dragoman.device import sleep_while_waiting
from dragoman.exit_codes import STOPPED


def finetune(
    model: Path,
    /,
    *pairs: str,
    output: OutputIfAny = None,
    epochs: float = 5.0,
    keep: bool | None = None,
    set_: Assignments = (),
) -> int:
    """Train a finished model further on text of your own, or resume such a run.

    The model may have been trained here or imported. It keeps its sizes and its vocabulary. Some of
    the pairs are held out; at the end the old and the new model translate them, and the model's
    test text if it is at hand, and the difference is reported: what the model has learnt, and what
    it has forgotten. The model that you name is not changed.

    You can interrupt it at any time: it saves, and the same command continues from there.

    For example:

        dragoman finetune runs/en-it mine.tsv -o runs/en-it-mine
        dragoman finetune runs/en-it mine.tsv --no-keep
        dragoman finetune runs/en-it mine.tsv --epochs 2 --set training.learning_rate=1e-4

    Parameters
    ----------
    model
        A model directory.
    pairs
        Sentence pairs, in any form that a recipe's `corpora.train` accepts as a path.
    output
        The directory of the new model; if left out, beside the old one, with `-finetuned` added to
        its name.
    epochs
        How many times the model sees the pairs; cleaning may leave some of them out.
    keep
        Learn as much again, in each epoch, from the text that the model was trained on: it forgets
        less, and takes twice as long. It does so anyway where that text is still there; with
        `--keep` it refuses to go without, and with `--no-keep` it leaves it out.
    set_
        Change a setting of the recipe, as section.key=value; may be given several times.
    """
    sleep_while_waiting()
    from dragoman.errors import UsageError
    from dragoman.finetuning.recipe import FineTuning
    from dragoman.finetuning.run import fine_tune
    from dragoman.training.display import ConsoleDisplay

    if not pairs:
        raise UsageError("name the text that the model learns from: PAIRS")
    if not 0 < epochs < math.inf:
        raise UsageError(f"--epochs {epochs:g}: it should be above zero and finite")
    order = FineTuning(
        model=model,
        pairs=pairs,
        epochs=epochs,
        directory=output or _beside(model),
        keep=keep,
        assignments=set_,
    )
    stopped_by = fine_tune(order, ConsoleDisplay())
    return 0 if stopped_by is None else STOPPED + stopped_by


def _beside(model: Path) -> Path:
    """Name the directory of the new model after the old one."""
    old = model.resolve()
    return old.with_name(f"{old.name}-finetuned")
