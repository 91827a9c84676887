"""`dragoman check`: find the mistakes in somebody's own Transformer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.checking.report import Finding, Report

MISTAKES_FOUND = 1


def check(
    file: Path,
    /,
    *,
    class_: Annotated[list[str] | None, Parameter(name="--class", negative=())] = None,
    argument: Annotated[list[str] | None, Parameter(negative=())] = None,
    seconds: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 120,
    memory: Annotated[int, Parameter(validator=validators.Number(gte=64))] = 4096,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Run your own implementation of the Transformer, and say which mistakes it has.

    Classes are recognised by their usual names, built with small sizes and examined: what they
    compute, what depends on what, what learns. Half a model is welcome. The exit code is 1 if
    there are mistakes, and 0 if there are none; docs/mistakes.md explains each.

    The file is run in a process of its own with limits of time and memory, without standard input,
    in an empty directory. That is no security sandbox: do not run what you would not run yourself.

    For example:

        dragoman check my_transformer.py
        dragoman check notebook.ipynb --class MultiHeadAttention=MyAttention
        dragoman check model.py --argument width=d_model --json

    Parameters
    ----------
    file
        A script, a notebook (.ipynb), or a page (.md, .txt) with blocks of Python.
    class_
        `PART=NAME`: which class, or function, is which part, where the name does not tell.
    argument
        `NAME=MEANING`: what an argument of a constructor stands for, where the name does not tell.
    seconds
        How long it may take in all.
    memory
        How many MiB the program may use beyond PyTorch itself.
    json
        Print one JSON object, for programs.
    """
    from dragoman.checking.process import Limits, check_file

    report = check_file(
        file,
        classes=tuple(class_ or ()),
        arguments=tuple(argument or ()),
        limits=Limits(seconds=seconds, memory_mib=memory),
    )
    if json:
        _print_json(report)
    else:
        _print(report)
    return MISTAKES_FOUND if report.num_mistakes else 0


def _print_json(report: "Report") -> None:
    from dataclasses import asdict
    from json import dumps

    print(dumps({**asdict(report), "num_mistakes": report.num_mistakes}, ensure_ascii=False))


def _print(report: "Report") -> None:
    """Print an overview, then what is wrong, what is peculiar, and what was not looked at."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_overview(report))
    for kind, style in (("mistake", "bold red"), ("note", "bold yellow")):
        for part in report.parts:
            for finding in part.mistakes if kind == "mistake" else part.notes:
                heading = Text.assemble((f"\n{kind} ", style), (finding.name, "bold"))
                console.print(heading.append(f" in {part.found_as or part.part}"))
                console.print(Text(_explained(finding)))
    console.print()
    for part in report.parts:
        for reason in part.not_checked:
            if part.found_as or part.part == "the file":
                console.print(Text(f"not checked in {part.found_as or part.part}: {reason}"))
    absent = [p.part for p in report.parts if not p.found_as and p.part != "the file"]
    if absent:
        console.print(Text(f"not found: {', '.join(absent)} (--class PART=NAME names them)"))
    count = report.num_mistakes
    said = {0: "no mistake found", 1: "1 mistake"}.get(count, f"{count} mistakes")
    console.print(Text(f"{report.file}: {said}", style="bold"))


def _overview(report: "Report") -> "Table":
    """Make one line of each part that was found."""
    from rich.table import Table

    table = Table("part", "found as", "passed", "mistakes", "notes", "not checked")
    for part in report.parts:
        if part.found_as or part.mistakes:
            counts = (part.passed, part.mistakes, part.notes, part.not_checked)
            table.add_row(part.part, part.found_as or "", *(str(len(items)) for items in counts))
    return table


def _explained(finding: "Finding") -> str:
    """Say what is wrong, how that was seen, why it matters and where to read on."""
    section = "" if finding.section == "-" else f"  section {finding.section} of the paper;"
    return (
        f"  {finding.finding}\n  measured: {finding.measured}\n  {finding.why}\n"
        f"{section} {finding.page}"
    )
