"""Checks a file in another process, within limits.

It is not a security sandbox: the program may read and write what its user may. The limits guard
against endless loops, huge tensors and the like.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from dragoman.checking.cells import Cell, read_cells
from dragoman.checking.report import Report
from dragoman.config import from_table, to_table
from dragoman.errors import DragomanError, UsageError

_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from dragoman.checking.child import main; main()"
)
_OUTPUT_SHOWN = 2_000
_QUIET = {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "Agg",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHDYNAMO_DISABLE": "1",
}
"""No GPU, no downloads, no windows, and no compiler, which takes minutes and much memory."""


class CheckError(DragomanError):
    """A program ended before it could be examined."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a program may use."""

    seconds: int = 120
    """Of elapsed time, once PyTorch is loaded; also of processor time."""

    memory_mib: int = 4096
    """Beyond what PyTorch itself takes."""

    file_mib: int = 64
    """In each file that it writes, and in what it prints."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the other process gets."""

    file: str
    path: str
    """Where the file is; absolute, because the program works elsewhere."""

    cells: tuple[Cell, ...]
    classes: tuple[str, ...] = ()
    """`Part=Name`: which class is which part."""

    arguments: tuple[str, ...] = ()
    """`name=role`: what an argument stands for."""

    limits: Limits = Limits()


def check_file(
    path: Path,
    *,
    classes: tuple[str, ...] = (),
    arguments: tuple[str, ...] = (),
    limits: Limits = Limits(),
) -> Report:
    """Run a learner's file in a process of its own, and examine the parts that it defines.

    Raises:
        UsageError: the file cannot be read or has no part of a Transformer; an option names
            something that is not there.
        DragomanError: this is not Linux.
        CheckError: the program ended the process.
        ModuleNotFoundError: PyTorch is not installed.
    """
    if sys.platform != "linux":
        raise DragomanError(
            "dragoman check needs Linux, whose limits keep a program from taking all memory"
        )
    for package in ("torch", "jaxtyping"):
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    request = Request(
        file=str(path),
        path=str(path.resolve()),
        cells=read_cells(path),
        classes=classes,
        arguments=arguments,
        limits=limits,
    )
    with tempfile.TemporaryDirectory(
        prefix="dragoman-check-",
        ignore_cleanup_errors=True,  # what the program has started may still be writing
    ) as name:
        directory = Path(name)
        (directory / "request.json").write_text(json.dumps(to_table(request)), encoding="utf-8")
        ending = _run(directory, limits)
        report = _read(directory / "report.json", path)
        if report is None:
            raise CheckError(f"{path}: {_explain(directory, ending, limits)}")
        return replace(report, output=_tail(directory / "output"))


def _run(directory: Path, limits: Limits) -> int | None:
    """Run the other process; return None if it had to be stopped, else how it ended."""
    package = Path(__file__).parents[2]
    work = directory / "work"
    work.mkdir()
    loaded, loading = os.pipe()
    command = [sys.executable, "-P", "-c", _BEGIN, str(package), str(directory), str(loading)]
    with (directory / "output").open("wb") as output, os.fdopen(loaded, "rb") as until_loaded:
        process = subprocess.Popen(
            command,
            pass_fds=(loading,),
            cwd=work,
            env={**os.environ, **_QUIET, **_python_path()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            os.close(loading)
            until_loaded.read()  # until the other process has also closed it, or has ended
            return process.wait(timeout=limits.seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever it has started
            process.wait()


def _python_path() -> dict[str, str]:
    """Make the directories of PYTHONPATH absolute, because the other process works elsewhere."""
    listed = os.environ.get("PYTHONPATH")
    if not listed:
        return {}
    directories = (str(Path(name).absolute()) for name in listed.split(os.pathsep))
    return {"PYTHONPATH": os.pathsep.join(directories)}


def _read(path: Path, file: Path) -> Report | None:
    """Read what the other process found; None if it did not get that far.

    Raises:
        CheckError: it is not what was written: a program may replace any function.
    """
    if not path.exists():
        return None
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CheckError(
            f"{file}: what was found cannot be read; it may change what Python's library does"
        ) from None
    if "wrong_use" in table:
        raise UsageError(f"{file}: {table['wrong_use']}")
    return from_table(Report, table)


def _explain(directory: Path, ending: int | None, limits: Limits) -> str:
    """Say why nothing was found: how it ended, and where it was."""
    stage = directory / "stage"
    where = stage.read_text(encoding="utf-8") if stage.exists() else "the start"
    if ending is None or ending == -signal.SIGXCPU:
        return f"was stopped after {limits.seconds} seconds, at {where}; --seconds allows more"
    if ending >= 0 and stage.exists():
        return f"ended its own process with exit code {ending}, at {where}"
    if ending >= 0:
        *_, last = _tail(directory / "output").splitlines() or ["it said nothing"]
        return f"could not be run at all: {last}"
    name = signal.Signals(-ending).name
    return f"its process was ended by {name}, at {where}; too little memory may be the reason"


def _tail(path: Path) -> str:
    """Read the end of what was printed."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _OUTPUT_SHOWN))
        return file.read().decode(errors="replace")
