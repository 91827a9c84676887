"""How `dragoman translate` handles long files: its options, and its progress reports."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dragoman.cli.options import Jobs
from dragoman.cli.text_output import warn, warn_of
from dragoman.counting import counted
from dragoman.durable import is_ordinary
from dragoman.errors import DragomanError, UsageError
from dragoman.exit_codes import SOME_REJECTED

if TYPE_CHECKING:
    from dragoman.bulk.files import Distribute, Progress
    from dragoman.bulk.job import Job


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BulkOptions:
    """Long files and records."""

    jobs: Jobs = None
    """Translate with this many processes, which share the processors; on a cluster, actors."""

    cluster: Annotated[bool | str, Parameter(negative=())] = False
    """Translate on a Ray cluster: the one at this address, or one that is started here."""

    field: str | None = None
    """Translate this field of JSON lines, or this column of a Parquet file."""

    into: str = "translation"
    """The field or column for the translation."""


def bulk_output(
    files: tuple[Path, ...], output: Path | None, alignments: Path | None, options: BulkOptions
) -> Path | None:
    """Return the output if files are translated to a file, so that finished work can be kept.

    Raises:
        UsageError: an option needs that, but something else was named, or it has no effect.
        DragomanError: a name is that of a directory, or the folder of an output does not exist.
    """
    from dragoman.model_directory.description import DESCRIPTION_NAME

    _check(options)  # first, as --cluster may have taken the only file for its address
    for path in filter(None, (output, alignments, *files)):
        if path in files and (path / DESCRIPTION_NAME).is_file():
            raise UsageError(f"{path}: it is a model, which comes first, and then the text")
        if path.is_dir():
            what = f"{path}: a directory stands where a file is expected"
            name_files = "; name its files, and each document in a command of its own"
            raise DragomanError(what + (name_files if path in files else ""))
    if output is None or not files or not all(map(is_ordinary, (output, *files))):
        if options != BulkOptions():
            raise UsageError(
                "--jobs, --cluster and --field work from files to a file: name the input, and the "
                "output with -o; standard input and pipes cannot be read again"
            )
        return None
    for path in filter(None, (output, alignments)):
        if not path.absolute().parent.is_dir():
            raise DragomanError(f"{path}: cannot be written: there is no such folder")
    return output


def _check(options: BulkOptions) -> None:
    """Refuse options that make no sense."""
    if (
        isinstance(options.cluster, str)
        and options.cluster != "auto"
        and ":" not in options.cluster
    ):
        raise UsageError(
            f"--cluster {options.cluster}: an address is HOST:PORT or auto; without one, put "
            "--cluster after the files"
        )
    if options.field is None and options.into != BulkOptions.into:
        raise UsageError(
            f"--into {options.into}: it needs --field, which names the field to translate"
        )


def translate_in_bulk(job: "Job", options: BulkOptions) -> int:
    """Translate files, report progress, and return the exit code."""
    from dragoman.bulk.files import rejections_path, translate_files

    distributing = distribute(options)
    if options.cluster:
        from dragoman.bulk.ray_cluster import on_processors

        job = on_processors(job)
    try:
        num_rejected = translate_files(job, distributing, Report())
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        raise
    if num_rejected:
        warn(
            f"{counted(num_rejected, 'line')} could not be translated, left empty in {job.output}; "
            f"{rejections_path(job.output)} has them, with the reasons"
        )
    return SOME_REJECTED if num_rejected else 0


def distribute(options: BulkOptions) -> "Distribute":
    """Choose who translates."""
    if options.cluster:
        from dragoman.bulk.ray_cluster import on_cluster

        address = options.cluster if isinstance(options.cluster, str) else None
        return on_cluster(address, options.jobs)
    if options.jobs is not None:
        from dragoman.bulk.workers import with_workers

        return with_workers(options.jobs)
    from dragoman.bulk.files import in_this_process

    return in_this_process


SECONDS_BETWEEN_LINES = {True: 5, False: 60}
"""On a terminal, and otherwise."""


class Report:
    """Prints warnings as they come, and progress.

    On a terminal it reports every few seconds, to a file once a minute. Each line is ended and left
    in place, as the next one may come from elsewhere, such as a worker's last words.

    Args:
        warn: Print the warnings; if not, the caller counts what they are about.
    """

    def __init__(self, *, warn: bool = True) -> None:
        self._warns = warn
        self._began: tuple[float, int] | None = None
        self._last_line = time.monotonic()
        self._seconds_between = SECONDS_BETWEEN_LINES[sys.stderr.isatty()]

    def __call__(self, progress: "Progress") -> None:
        """Print what is new."""
        warn_of(progress.warnings if self._warns else ())
        if self._began is None:
            self._began = time.monotonic(), progress.num_lines
            if progress.num_lines:
                print(f"going on: {_so_far(progress)} translated", file=sys.stderr)
            return
        if progress.engine is None:  # at the end
            return
        now = time.monotonic()
        seconds, lines = now - self._began[0], progress.num_lines - self._began[1]
        how_far = f"{_so_far(progress)}, {lines / seconds:.0f} a second, "
        if now - self._last_line >= self._seconds_between:
            print(f"{how_far}{progress.engine}", file=sys.stderr)
            self._last_line = now


def _so_far(progress: "Progress") -> str:
    return f"{progress.num_lines:,} of {counted(progress.of, 'line')}"
