"""Have a teacher translate, and train a student on that; or continue doing so."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from dragoman.bulk.files import Distribute, Progress, translate_files
from dragoman.bulk.job import Job, TranslatorSettings
from dragoman.bulk.plain_text import PlainText
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.fingerprint import files_of
from dragoman.corpora.text_file import CorpusError
from dragoman.decoding.config import RANGES, SearchConfig
from dragoman.distillation.student import as_learnt, student_recipe
from dragoman.distillation.text import write_pairs, write_sources
from dragoman.durable import checksum, write_atomically
from dragoman.errors import DragomanError, UsageError
from dragoman.model_directory import ModelDirectory
from dragoman.model_directory.description import FINISHED_FILE
from dragoman.pipeline.run import train_model
from dragoman.pipeline.run_directory import (
    RECIPE_FILE,
    claim,
    make_directory,
    named_when_unwritable,
    only_one,
)
from dragoman.recipe import Recipe
from dragoman.training.compilation import require_compiler
from dragoman.training.display import Display
from dragoman.training.distributed import device_of_process, world_size

FOLDER = "distillation"
"""Inside the directory of the student's run."""

SOURCES, TRANSLATIONS, PAIRS = "sources.txt", "translations.jsonl", "distilled.tsv"
"""With several texts, the pairs are in distilled-1.tsv, distilled-2.tsv and so on."""

ORIGIN = "origin.json"
"""Records what the translations were made from: checksums of the text and of the teacher's weights,
and the search."""

SUMMARY = "summary.json"
"""Records how many of them are taught, and why others are not."""


class DistillationError(DragomanError):
    """A distillation cannot be continued."""


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Who teaches whom, on what, and where."""

    teacher: Path
    corpora: tuple[CorpusConfig, ...] = ()
    """Their source sides are translated."""

    monolingual: tuple[Path, ...] = ()
    """Plain text in the source language, which is translated, too."""

    student: str
    """A preset of the model."""

    directory: Path
    """Of the student's run."""

    n_best: int = 1
    """Translations of each sentence that are taught."""

    assignments: tuple[str, ...] = ()
    """Changes to the student's recipe, as section.key=value."""


def distil(
    order: Distillation,
    distribute: Distribute,
    tell: Callable[[Progress], None],
    display: Display,
) -> int | None:
    """Train a student on the translations of its teacher.

    First the recipe of the student is written, then the translations; then follows what
    `dragoman train` does with that recipe. Each step continues where it was interrupted.

    Args:
        order: Who teaches whom.
        distribute: Has the teacher translate.
        tell: Called with how far the translation is.
        display: Shows the rest.

    Returns:
        The signal that stopped the training; None when it is finished.

    Raises:
        UsageError: several processes are to translate.
        DragomanError: the model, the text or the directory cannot be used.
    """
    if world_size() > 1:  # they would get in each other's way
        run, file = (quote(str(order.directory / name)) for name in ("", RECIPE_FILE))
        raise UsageError(
            "a distillation translates in one process; when its training begins, stop it, and go "
            f"on with several: torchrun --nproc-per-node 2 -m dragoman train {file} -o {run}"
        )
    folder = order.directory / FOLDER
    teacher = ModelDirectory(order.teacher)
    order = replace(order, corpora=as_learnt(teacher, order.corpora))
    weights = [corpus.weight for corpus in order.corpora] + [1.0] * len(order.monolingual)
    pairs = dict(zip(_files(order), weights, strict=True))
    recipe = student_recipe(teacher, order.student, pairs, order.assignments)
    require_compiler(recipe.training, device_of_process(recipe.training.device))
    search = _search(teacher, order.n_best)
    try:
        _require_text(order, recipe.corpora)
    except CorpusError:
        if not (order.directory / FINISHED_FILE).exists():
            raise
        return train_model(recipe, order.directory, display)  # which says that it is finished
    make_directory(order.directory)
    with named_when_unwritable(order.directory), only_one(order.directory):
        claim(recipe, order.directory)
        folder.mkdir(exist_ok=True)
        _translate(order, recipe, search, distribute, tell, display)
    return train_model(recipe, order.directory, display)


def _require_text(order: Distillation, judges: CorporaConfig) -> None:
    """Miss a text that is not there before anything is written.

    Raises:
        CorpusError: it is one to translate, or one that the student is judged by.
    """
    _require_files(order.corpora, order.monolingual)
    for use, corpora in (("validation", judges.validation), ("test", judges.test)):
        try:
            _require_files(corpora)
        except CorpusError as error:
            raise CorpusError(
                f"{error}, and the student is judged by it; run the command where "
                f"{order.teacher} was trained, or name another text with --set "
                f"'corpora.{use}=[{{path=\"dev.tsv\"}}]'"
            ) from error


def _require_files(corpora: Sequence[CorpusConfig], monolingual: Sequence[Path] = ()) -> None:
    """Miss files that are not there, or cannot be named because a variable is not defined."""
    paths = [path for corpus in corpora for _, path in files_of(corpus)]
    for path in (*paths, *monolingual):
        if not path.exists():
            raise CorpusError(f"{path}: there is no such file")


def _files(order: Distillation) -> list[Path]:
    """Name the file of the translations of each text."""
    path = order.directory / FOLDER / PAIRS
    texts = len(order.corpora) + len(order.monolingual)
    if texts == 1:
        return [path]
    numbers = range(1, texts + 1)
    return [path.with_stem(f"{path.stem}-{number}") for number in numbers]


def _translate(
    order: Distillation,
    recipe: Recipe,
    search: SearchConfig,
    distribute: Distribute,
    tell: Callable[[Progress], None],
    display: Display,
) -> None:
    """Write what the student learns from, unless that was done before."""
    teacher = ModelDirectory(order.teacher)
    folder = order.directory / FOLDER
    newest = folder / f"{SOURCES}.new"
    counts = write_sources(
        newest,
        teacher,
        order.corpora,
        order.monolingual,
        corpora=recipe.corpora,
        cleaning=recipe.cleaning,
        say=display.message,
    )
    origin = {
        "sources": checksum(newest),
        "teacher": teacher.description.weights_sha256,
        **asdict(search),
    }
    if (folder / TRANSLATIONS).exists():  # it appears when it is complete
        newest.unlink()
        _compare(origin, folder)
    else:
        newest.replace(folder / SOURCES)
        write_atomically(folder / ORIGIN, json.dumps(origin, indent=2))
        display.message(f"{order.teacher} translates them")
        translator = TranslatorSettings(model=order.teacher, search=search)
        job = Job(
            translator=translator,
            files=PlainText((folder / SOURCES,), "json"),
            output=folder / TRANSLATIONS,
            lines_per_block=translator.lines_per_block,
        )
        translate_files(job, distribute, tell)
    parts = list(zip(_files(order), counts, strict=True))
    kept, left_out = write_pairs(folder / TRANSLATIONS, parts)
    display.message(_account(kept, left_out))
    summary = {"kept": kept, "left_out": left_out}
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2))


def _compare(origin: dict[str, Any], folder: Path) -> None:
    """Make sure that the translations in a folder were made from this.

    Raises:
        DistillationError: they were made from something else, or it cannot be told from what.
    """
    try:
        recorded = json.loads((folder / ORIGIN).read_bytes())
        before = asdict(SearchConfig()) | recorded  # which may lack newer settings
        changed = [name for name, value in origin.items() if before[name] != value]
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise DistillationError(
            f"{folder / ORIGIN}: it is missing or damaged ({error!r}); remove {folder} "
            "to begin anew"
        ) from error
    if changed:
        raise DistillationError(
            f"{folder}: it holds translations of another text, by another teacher, or by "
            f"another search ({' and '.join(changed)} changed since); undo the change, or name "
            "another directory with -o"
        )


def _search(teacher: ModelDirectory, n_best: int) -> SearchConfig:
    """Search as the teacher's recipe says, with a beam wide enough for so many translations.

    Raises:
        UsageError: there is no such beam.
    """
    least, most = RANGES["n_best"]
    if not least <= n_best <= most:
        raise UsageError(f"--n-best {n_best} is not between {least} and {most}")
    search = teacher.search
    return replace(search, beam_size=max(search.beam_size, n_best), n_best=n_best)


def _account(kept: int, left_out: Counter[str]) -> str:
    """Say what became of the translations."""
    reasons = "; ".join(f"{count:,} as {reason}" for reason, count in left_out.most_common())
    return f"{kept:,} translations to learn from, {left_out.total():,} left out" + (
        f" ({reasons})" if reasons else ""
    )
