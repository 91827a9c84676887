"""`dragoman distill`: a large model teaches a small, fast one."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.bulk_translation import BulkOptions, Report, distribute
from dragoman.cli.options import OutputIfAny, WholeNumber
from dragoman.device import sleep_while_waiting
from dragoman.exit_codes import STOPPED


def _beside(model: Path, student: str) -> Path:
    """Name the directory of a student after its teacher's."""
    teacher = model.resolve()
    return teacher.parent / f"{teacher.name}-{student}".replace(os.sep, "-")


def distill(
    model: Path,
    /,
    *pairs: str,
    student: str,
    output: OutputIfAny = None,
    n_best: WholeNumber = 1,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    jobs: Annotated[WholeNumber | None, Parameter(name=["--jobs", "-j"])] = None,
) -> int:
    """Train a fast model on the translations of a good one, or go on with that.

    The model translates the source side of the pairs, and a student with a deep encoder and a
    shallow decoder learns from these translations, with the vocabulary of its teacher. They are
    more alike than those of people, so that they are easier to learn. The student's recipe is the
    teacher's but for the model and the training text; it is judged by the same references, and
    stands in the output, for `dragoman train`. As wide as its teacher, it begins with its layers.

    Translations that are empty, run in circles or have another fault are left out, and counted.

    Interrupt it at any time: the same command goes on, with the translation or with the training.

    For example:

        dragoman distill runs/en-it pairs.tsv --student small-6-1 -o runs/en-it-fast
        dragoman export runs/en-it-fast --to ctranslate2

    Parameters
    ----------
    model
        A model directory: the teacher.
    pairs
        Sentence pairs, in every form that a recipe's `corpora.train` takes as path.
    student
        What the student's `model` section starts from: tiny-6-1, small-6-1, base-12-1 (layers of
        encoder and decoder), or another preset of a recipe.
    output
        The directory of the student's run; where it is left out, beside the teacher's under the
        names of both, as `runs/en-it-small-6-1`.
    n_best
        Translations of each sentence that the student learns from.
    set_
        Change a setting of the student's recipe, as section.key=value; may be given several times.
    jobs
        Translate with so many processes, which share the processors.
    """
    sleep_while_waiting()
    from dragoman.corpora.config import CorpusConfig
    from dragoman.distillation.run import Distillation, distil
    from dragoman.errors import UsageError
    from dragoman.training.display import ConsoleDisplay, LastingConsole

    if not pairs:
        raise UsageError("name the text that the model translates: PAIRS")
    order = Distillation(
        teacher=model,
        corpora=tuple(CorpusConfig(path=path) for path in pairs),
        student=student,
        directory=output or _beside(model, student),
        n_best=n_best,
        assignments=set_,
    )
    stopped_by = distil(
        order,
        distribute(BulkOptions(jobs=jobs)),
        Report(warn=False),  # faulty translations are left out, and counted
        ConsoleDisplay(LastingConsole(stderr=True)),
    )
    return 0 if stopped_by is None else STOPPED + stopped_by
