"""`dragoman distill`: a large model teaches a small, fast one."""

import os
from pathlib import Path

from dragoman.cli.bulk_translation import BulkOptions, Report, distribute
from dragoman.cli.options import Assignments, Files, Jobs, OutputIfAny, WholeNumber
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
    monolingual: Files = (),
    n_best: WholeNumber = 1,
    set_: Assignments = (),
    jobs: Jobs = None,
) -> int:
    """Train a fast model on the translations of a good one, or resume such a run.

    The model, the teacher, translates the source side of the pairs, and text that has no
    translation, if you name any. A student with a deep encoder and a shallow decoder learns from
    these translations, with its teacher's vocabulary. They are more uniform than those of people,
    and so easier to learn. The student has its teacher's recipe, except for the model and the
    training text, and is judged by the same references; the recipe is saved in the output, for
    `dragoman train`. A student as wide as its teacher starts from its teacher's layers.

    Translations that are empty, repeat themselves or have another fault are left out and counted.

    You can interrupt it at any time: the same command continues translating or training.

    For example:

        dragoman distill runs/en-it pairs.tsv --student small-6-1 -o runs/en-it-fast
        dragoman export runs/en-it-fast --to ctranslate2

    Parameters
    ----------
    model
        A model directory: the teacher.
    pairs
        Sentence pairs, in any form that a recipe's `corpora.train` accepts as a path.
    student
        The preset for the student's `model` section: tiny-6-1, small-6-1, base-12-1 (layers of
        encoder and decoder), or any other preset that recipes have.
    output
        The directory of the student's run; if left out, beside the teacher's and named after both,
        such as `runs/en-it-small-6-1`.
    monolingual
        A plain text file in the source language, which has no translation: the model translates
        its sentences, too. May be given several times.
    n_best
        How many translations of each sentence the student learns from.
    set_
        Change a setting of the student's recipe, as section.key=value; may be given several times.
    jobs
        Translate with this many processes, which share the processors.
    """
    sleep_while_waiting()
    from dragoman.corpora.config import CorpusConfig
    from dragoman.distillation.run import Distillation, distil
    from dragoman.errors import UsageError
    from dragoman.training.display import ConsoleDisplay

    if not (pairs or monolingual):
        raise UsageError("name the text that the model translates: PAIRS, or --monolingual FILE")
    order = Distillation(
        teacher=model,
        corpora=tuple(CorpusConfig(path=path) for path in pairs),
        monolingual=monolingual,
        student=student,
        directory=output or _beside(model, student),
        n_best=n_best,
        assignments=set_,
    )
    stopped_by = distil(
        order,
        distribute(BulkOptions(jobs=jobs)),
        Report(warn=False),  # faulty translations are left out, and counted
        ConsoleDisplay(),
    )
    return 0 if stopped_by is None else STOPPED + stopped_by
