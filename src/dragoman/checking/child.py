"""The other process: runs a learner's program and writes what was found."""

import os
import sys
import warnings
from functools import partial
from json import dumps, loads  # before a program replaces them
from os import _exit
from pathlib import Path

import torch

from dragoman.checking.arguments import CONSTRUCTOR
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.limits import limit_process
from dragoman.checking.parts import PART_NAMES
from dragoman.checking.process import Request
from dragoman.checking.report import Report
from dragoman.config import from_table, nearest, to_table
from dragoman.errors import UsageError


def main() -> None:
    """Do what `request.json` in the directory asks for."""
    directory = Path(sys.argv[2])
    table = loads((directory / "request.json").read_text(encoding="utf-8"))
    os.close(int(sys.argv[3]))  # the time limit starts here
    try:
        found = to_table(_examine(from_table(Request, table), directory))
    except UsageError as error:
        found = {"wrong_use": str(error)}
    written = directory / "report.json.part"
    written.write_text(dumps(found), encoding="utf-8")
    written.replace(directory / "report.json")
    sys.stdout.flush()
    _exit(0)  # threads that the program started do not keep the process alive


def _examine(request: Request, directory: Path) -> Report:
    """Set the limits, then run what somebody else wrote."""
    wishes = wishes_of(request)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sys.argv, sys.path[0] = [request.path], str(Path(request.path).parent)  # as Python sets them
    limits = request.limits
    limit_process(
        cpu_seconds=limits.seconds, memory_mib=limits.memory_mib, file_mib=limits.file_mib
    )
    tell = partial((directory / "stage").write_text, encoding="utf-8")
    examiner = Examiner(request.cells, wishes, tell)
    if request.path.lower().endswith(".py"):  # a notebook has none
        examiner.program.module.__file__ = request.path
    report = examiner.report(request.file)
    for part, name in wishes.classes.items():
        if name not in examiner.program.names:
            raise UsageError(f"--class {part}={name}: there is no {name} in it")
    if not report.num_mistakes and not any(part.found_as for part in report.parts):
        classes = f" (it has {', '.join(report.unknown)})" if report.unknown else ""
        raise UsageError(
            f"no part of a Transformer was found in it{classes}; --class MultiHeadAttention=NAME "
            f"would name one, and there is {', '.join(PART_NAMES)}"
        )
    return report


def wishes_of(request: Request) -> Wishes:
    """Read what the user has said about the file.

    Raises:
        UsageError: an option names a part or a meaning that does not exist.
    """
    arguments = _pairs(request.arguments, "--argument", ())
    for name, role in arguments.items():
        if role not in CONSTRUCTOR:
            raise UsageError(f"--argument {name}={role}: there is {', '.join(CONSTRUCTOR)}")
    return Wishes(classes=_pairs(request.classes, "--class", PART_NAMES), arguments=arguments)


def _pairs(assignments: tuple[str, ...], option: str, known: tuple[str, ...]) -> dict[str, str]:
    """Read what an option says, `NAME=VALUE` each."""
    pairs = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} {assignment}: write it as NAME=VALUE")
        if known and name not in known:
            close = nearest(name, list(known))
            meant = f"did you mean {close}?" if close else f"there is {', '.join(known)}"
            raise UsageError(f"{option} {assignment}: there is no part {name}; {meant}")
        pairs[name] = value
    return pairs
