"""`dragoman check`: find the mistakes in a Transformer that somebody wrote."""

from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from dragoman.cli.options import Count, Flag, WholeNumber
from dragoman.cli.text_output import print_json
from dragoman.exit_codes import FOUND

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.checking.report import Finding, Report


def check(
    file: Path,
    /,
    *,
    class_: Annotated[list[str] | None, Parameter(name="--class", negative=())] = None,
    argument: Annotated[list[str] | None, Parameter(negative=())] = None,
    seconds: Count = 120,
    memory: Annotated[WholeNumber, Parameter(validator=validators.Number(gte=64))] = 4096,
    json: Flag = False,
) -> int:
    """Run your own implementation of the Transformer, and report its mistakes.

    Classes are recognised by their usual names, built with small sizes and examined: what they
    compute, what depends on what, and what learns. Half a model is welcome. The exit code is 1 if
    there are mistakes, and 0 if there are none; docs/mistakes.md explains each mistake.

    The file runs in a process of its own with limits on time and memory, without standard input, in
    an empty directory. This is no security sandbox: do not check what you would not run yourself.

    For example:

        dragoman check my_transformer.py
        dragoman check notebook.ipynb --class MultiHeadAttention=MyAttention
        dragoman check model.py --argument width=d_model --json

    Parameters
    ----------
    file
        A script, a notebook (.ipynb), or a page (.md, .txt) with Python code blocks.
    class_
        `PART=NAME`: which class or function is which part, if the name does not tell.
    argument
        `NAME=MEANING`: what an argument of a constructor means, if the name does not tell.
    seconds
        How long the program may run, once PyTorch is loaded.
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
        print_json({**asdict(report), "num_mistakes": report.num_mistakes})
    else:
        _print(report)
    return FOUND if report.num_mistakes else 0


def _print(report: "Report") -> None:
    """Print an overview, then the mistakes, the notes, and what was not checked."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(_overview(report))
    for kind, style in (("mistake", "bold red"), ("note", "bold yellow")):
        for part in report.parts:
            for finding in part.mistakes if kind == "mistake" else part.notes:
                place = part.found_as or part.part
                console.print(f"\n{kind} {finding.name} in {place}", style=style)
                for line in _explained(finding):
                    console.print(_indented(line, console.width), soft_wrap=True)
    console.print()
    for line in _left_out(report):
        console.print(line, soft_wrap=True)
    count = report.num_mistakes
    said = {0: "no mistake found", 1: "1 mistake"}.get(count, f"{count} mistakes")
    if not count and not any(part.passed for part in report.parts):
        said = "nothing could be checked"
    if unknown := sum(len(part.not_checked) for part in report.parts if part.found_as):
        said += f"; not checked: {unknown}"
    console.print(f"{report.file}: {said}", style="bold", soft_wrap=True)


def _left_out(report: "Report") -> list[str]:
    """Say what was not checked, and which parts were not found."""
    there = [part for part in report.parts if part.found_as or part.part == "the file"]
    lines = [
        f"not checked in {part.found_as or part.part}: {reason}"
        for part in there
        for reason in part.not_checked
    ]
    if absent := [part.part for part in report.parts if part not in there]:
        lines.append(f"not found: {', '.join(absent)} (--class PART=NAME names them)")
        if report.unknown:
            lines.append(f"no part by its name, and not checked: {', '.join(report.unknown)}")
    return lines


def _overview(report: "Report") -> "Table":
    """Make a table with a row for each part that was found."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("found as")
    for heading in ("passed", "mistakes", "notes", "not checked"):
        table.add_column(heading, justify="right")
    for part in report.parts:
        if part.found_as or part.mistakes:
            counts = (part.passed, part.mistakes, part.notes, part.not_checked)
            table.add_row(part.found_as or part.part, *(str(len(items)) for items in counts))
    return table


def _explained(finding: "Finding") -> list[str]:
    """Say what is wrong, how that was seen, why it matters and where to read on."""
    section = "" if finding.section == "-" else f"section {finding.section} of the paper; "
    return [
        finding.finding,
        f"Measured: {finding.measured}.",
        finding.why,
        f"{section}{finding.page}",
    ]


def _indented(line: str, width: int) -> str:
    """Break a line at spaces, and leave none at the ends, which a padding would fill up."""
    return fill(
        line,
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
