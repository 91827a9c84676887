"""Runs every examination on its part."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.cells import Cell
from dragoman.checking.construction import Workshop
from dragoman.checking.convention import REFUSED
from dragoman.checking.demonstrations import Demonstrations
from dragoman.checking.examinations import EXAMINATIONS
from dragoman.checking.examinations.check import Check, Examination
from dragoman.checking.examinations.every_part import (
    OF_EVERY_PART,
    OF_WHAT_FAILS,
    OF_WHAT_IS_NAN,
    OF_WHAT_IS_RANDOM,
    RUNS,
)
from dragoman.checking.examinations.layout import (
    LENGTH_FIRST,
    reads_length_first,
    refuse_length_first,
)
from dragoman.checking.examinations.probe import give, run
from dragoman.checking.global_sizes import fit_global_sizes
from dragoman.checking.limits import OutOfTime, time_limit
from dragoman.checking.mending import mend
from dragoman.checking.parts import looked_for, unknown_classes
from dragoman.checking.program import Program, Statement, asks_for_gpu, sentence_of
from dragoman.checking.reading import lines_without_effect
from dragoman.checking.report import Finding, PartReport, Report

MOST_MENDS = 20
SECONDS_AN_EXAMINATION = 60.0
MOST_FAILURES_TOLD = 12

SIZES_OF_ITS_OWN = (
    "its constructor has no argument for its sizes, and it does not take those of the check"
)


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user has said about the file."""

    classes: Mapping[str, str] = field(default_factory=dict)
    """For parts, the names of their classes."""

    arguments: Mapping[str, str] = field(default_factory=dict)
    """For names of arguments, what they stand for."""


class Examiner:
    """Runs a program and examines the parts that it defines.

    Args:
        cells: The program.
        wishes: What the user has said about it.
        tell: Called with what is being done, so that a process that ends there can be explained.
    """

    def __init__(
        self, cells: Sequence[Cell], wishes: Wishes, tell: Callable[[str], object] = lambda _: None
    ) -> None:
        self.program = Program(cells)
        self.wishes = wishes
        self.tell = tell
        self.shown = Demonstrations(self.program)
        self.stops: dict[tuple[str, type[BaseException]], str] = {}
        self.left_sizes: set[str] = set()
        """Global variables that may be sizes, and do not have those of the checks as others do."""

    def report(self, file: str, parts: Collection[str] = tuple(EXAMINATIONS)) -> Report:
        """Run, examine and report.

        All parts are made to run before any is examined, because one may be made of others.

        Args:
            file: Its name, for the report.
            parts: What to examine.
        """
        of_file = _Findings()
        for statement in self.program.statements:
            self.tell(statement.place())
            self._run(statement, of_file)
            dropped = lines_without_effect(statement, self.program)
            for check, measured in (*self.shown.watch(statement), *dropped):
                of_file.add(check, measured)
        if torch.finfo().eps > torch.finfo(torch.float32).eps:  # rounding would look like mistakes
            torch.set_default_dtype(torch.float32)
        self.left_sizes = fit_global_sizes(self.program)
        findings = {part: _Findings() for part in parts if self._factory(part)}
        running = [part for part in findings if self._runs(part, findings[part])]
        workshop = self._workshop()
        for part in running:
            for examination in self._examinations(part, workshop, findings[part]):
                self._let(examination, part, workshop, findings[part])
        reports = [self._of_file(of_file)]
        for part in parts:
            if factory := self._factory(part):
                reports.append(findings[part].report(part, factory.__name__))
            else:
                reports.append(PartReport(part=part, not_checked=(self._why_not(part),)))
        unknown = unknown_classes(self.program.names, self._workshop().found)
        return Report(file=file, parts=tuple(reports), unknown=unknown)

    def _run(self, statement: Statement, findings: "_Findings") -> None:
        """Run one statement; if it fails, fix it or note that."""
        for _ in range(MOST_MENDS):
            try:
                self.program.execute(statement)
                return
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                own = self.program.line_of(error)
                in_itself = own is not None and own[0] is statement
                if not (in_itself and self._mend(error, findings)):
                    self.program.fail(statement, error)
                    return

    def _mend(self, error: BaseException, findings: "_Findings") -> Statement | None:
        """Fix a slip and note it; the statement that it was in has to be run again."""
        mended = mend(error, self.program)
        if mended is None:
            return None
        findings.add(mended.check, mended.sentence)
        return mended.statement

    def _of_file(self, findings: "_Findings") -> PartReport:
        """Report what concerns no part."""
        others = []
        for failure in self.program.failures:
            told = f"{failure.place}: {failure.sentence}"
            if failure.is_definition:
                findings.add(RUNS, told)
            else:
                others.append(told)
        findings.not_checked.extend(others[:MOST_FAILURES_TOLD])
        if (rest := len(others) - MOST_FAILURES_TOLD) > 0:
            findings.not_checked.append(f"and {rest} more statements failed")
        return findings.report("the file", None)

    def _workshop(self) -> Workshop:
        """Read the program's names afresh, because mending replaces classes."""
        return Workshop(self.program, self.wishes.classes, self.wishes.arguments)

    def _factory(self, part: str) -> Callable[..., Any] | None:
        """Return what builds a part, if it is there."""
        try:
            return self._workshop().factory(part)
        except NotCheckableError:
            return None

    def _why_not(self, part: str) -> str:
        """Say why a part is not examined."""
        chosen = self.wishes.classes.get(part)
        if chosen in self.program.names:
            return f"{chosen} is no class; this part is examined as one (an nn.Module)"
        return f"not found (looked for {looked_for(part)})"

    def _runs(self, part: str, findings: "_Findings") -> bool:
        """Build and run a part; fix slips on the way."""
        self.tell(part)
        for _ in range(MOST_MENDS):
            try:
                with time_limit(SECONDS_AN_EXAMINATION):
                    run(self._workshop(), part)
                    if part == "MultiHeadAttention":
                        refuse_length_first(self._workshop(), part)
                return True
            except NotCheckableError as error:
                findings.not_checked.append(str(error))
                return False
            except (Exception, SystemExit, OutOfTime) as error:
                statement = self._mend(error, findings)
                if statement is None:
                    self._stop(part, error, findings)
                    return False
                self._run(statement, findings)
        return False

    def _stop(self, part: str, error: BaseException, findings: "_Findings") -> None:
        """Note that a part does not run, and why, once for all parts that contain it."""
        sentence = f"{self.program.place_of(error)}{sentence_of(error)}"
        if isinstance(error, NameError) and error.name in self.program.missing:
            findings.not_checked.append(f"it needs {error.name}, which is missing here")
            return
        if asks_for_gpu(error):
            findings.not_checked.append(sentence)
            return
        if reads_length_first(self._workshop(), part):
            findings.not_checked.append(f"{LENGTH_FIRST} ({sentence})")
            return
        where = (self.program.place_of(error) or sentence, type(error))
        if where in self.stops:
            findings.not_checked.append(f"it stops where {self.stops[where]} does")
            return
        if isinstance(error, REFUSED) and self.left_sizes:
            unknown = min(self.left_sizes)
            findings.not_checked.append(f"whether {unknown} is a size is not known ({sentence})")
            return
        if isinstance(error, REFUSED) and not self._workshop().is_told_its_sizes(part):
            findings.not_checked.append(f"{SIZES_OF_ITS_OWN} ({sentence})")
            return
        self.stops[where] = self._workshop().factory(part).__name__
        findings.add(RUNS, sentence)
        for examination in OF_WHAT_FAILS:
            self._let(examination, part, self._workshop(), findings)

    def _examinations(
        self, part: str, workshop: Workshop, findings: "_Findings"
    ) -> tuple[Examination, ...]:
        """Choose what can be examined: if the output is random or NaN, not what it depends on."""
        try:
            with time_limit(SECONDS_AN_EXAMINATION):
                module, output = run(workshop, part)
                again = give(workshop, part, module)
        except (Exception, SystemExit, OutOfTime):  # which each examination will report
            return (*EXAMINATIONS[part], *OF_EVERY_PART)
        if output.isnan().any():
            findings.not_checked.append("what its output depends on, because it is not a number")
            return OF_WHAT_IS_NAN
        if torch.equal(again, output):
            return (*EXAMINATIONS[part], *OF_EVERY_PART)
        findings.not_checked.append("what its output depends on, because the output is random")
        return OF_WHAT_IS_RANDOM

    def _let(
        self, examination: Examination, part: str, workshop: Workshop, findings: "_Findings"
    ) -> None:
        """Run an examination; one that fails does not stop the others."""
        self.tell(part)
        try:
            with time_limit(SECONDS_AN_EXAMINATION):
                for check, measured in examination(workshop, part):
                    findings.add(check, measured)
        except NotCheckableError as error:
            findings.not_checked.append(str(error))
        except (Exception, SystemExit, OutOfTime) as error:
            name = examination.__name__.replace("_", " ")
            said = f"{self.program.place_of(error)}{sentence_of(error)}"
            if said not in [mistake.measured for mistake in findings.mistakes]:
                findings.not_checked.append(f"{name}: {said}")


@dataclass
class _Findings:
    """What is found out about one part."""

    passed: list[str] = field(default_factory=list)
    mistakes: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def add(self, check: Check, measured: str | None) -> None:
        if measured is None:
            self.passed.append(check.name)
        elif check.kind == "note":
            self.notes.append(check.report(measured))
        else:
            self.mistakes.append(check.report(measured))

    def report(self, part: str, found_as: str | None) -> PartReport:
        return PartReport(
            part=part,
            found_as=found_as,
            passed=tuple(dict.fromkeys(self.passed)),
            mistakes=tuple(self.mistakes),
            notes=tuple(self.notes),
            not_checked=tuple(dict.fromkeys(self.not_checked)),
        )
