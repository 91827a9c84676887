"""A learner's program, run statement by statement, so that what fails does not end it."""

import __future__

import ast
import asyncio
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from types import FrameType, ModuleType
from typing import Any

from dragoman.checking.cells import Cell
from dragoman.checking.limits import OutOfTime, time_limit

SECONDS_A_STATEMENT = 10.0
MOST_SYNTAX_ERRORS = 20

_FILE = "<learner {}>"


@dataclass(frozen=True)
class Statement:
    """A top-level statement of the program."""

    cell: Cell
    tree: ast.stmt
    file: str

    def place(self, line: int | None = None) -> str:
        """Say where the statement begins, or where one of its lines is."""
        return self.cell.place(self.tree.lineno if line is None else line)

    @property
    def assigned(self) -> set[str]:
        """The global variables that it gives a value, if it is an assignment."""
        if not isinstance(self.tree, ast.Assign | ast.AnnAssign):
            return set()
        return {
            node.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def holds(self, file: str, line: int) -> bool:
        """Tell whether a line of a file belongs to the statement."""
        decorators = getattr(self.tree, "decorator_list", ())  # of a class or a function
        first = min([self.tree.lineno, *(decorator.lineno for decorator in decorators)])
        return file == self.file and first <= line <= (self.tree.end_lineno or line)


@dataclass(frozen=True)
class Failure:
    """A statement that did not run, or text that is not Python."""

    place: str
    sentence: str
    is_definition: bool
    """Whether a class, a function or an import is now missing; others may only lack data."""


class Program:
    """The statements of a program and the names that they have defined.

    The program does not see itself as `__main__`, so what is under that condition is not run.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.module = ModuleType("learner")
        sys.modules["learner"] = self.module
        self.failures: list[Failure] = []
        self.missing: set[str] = set()
        """Names whose import failed because a package or the files beside it are missing, variables
        that could not be computed, as without the program's data, and classes made of them."""
        self.statements: list[Statement] = []
        self._flags = 0  # of the compiler, as set by `from __future__ import annotations`
        for index, cell in enumerate(cells):
            file = _FILE.format(index)
            read, trees = self._parse(cell)
            lines = StringIO(read.source).readlines()
            linecache.cache[file] = (len(read.source), None, lines, file)  # torch.jit reads them
            self.statements.extend(Statement(read, tree, file) for tree in trees)

    @property
    def names(self) -> dict[str, Any]:
        """What the program has defined so far."""
        return vars(self.module)

    @cached_property
    def assigned(self) -> set[str]:
        """The global variables that its statements give a value, had none of them failed."""
        return {name for statement in self.statements for name in statement.assigned}

    @cached_property
    def functions(self) -> set[str]:
        """The functions and methods that it defines."""
        nodes = (node for statement in self.statements for node in ast.walk(statement.tree))
        return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}

    @cached_property
    def read_of_others(self) -> set[str]:
        """The attributes that it reads of anything but `self`, as a training loop of its model."""
        return {
            node.attr
            for statement in self.statements
            for node in ast.walk(statement.tree)
            if isinstance(node, ast.Attribute)
            and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        }

    def execute(self, statement: Statement) -> None:
        """Run one statement; what it raises is passed on.

        At the top level of a notebook, `await` works.
        """
        if isinstance(statement.tree, ast.ImportFrom) and statement.tree.module == "__future__":
            for alias in statement.tree.names:
                self._flags |= getattr(__future__, alias.name).compiler_flag
        tree = ast.Module(body=[statement.tree], type_ignores=[])
        waits = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if statement.cell.is_of_notebook else 0
        code = compile(tree, statement.file, "exec", flags=self._flags | waits, dont_inherit=True)
        with time_limit(SECONDS_A_STATEMENT):
            result = eval(code, self.names)
            if inspect.iscoroutine(result):
                asyncio.run(result)

    def fail(self, statement: Statement, error: BaseException) -> None:
        """Note that a statement did not run."""
        line = self.line_of(error)
        place = line[0].place(line[1]) if line else statement.place()
        tree, sentence = statement.tree, sentence_of(error)
        is_relative = isinstance(tree, ast.ImportFrom) and tree.level > 0
        if is_relative:
            sentence = "imports from the package that it belongs to, and only this file is read"
        elsewhere = is_relative or isinstance(error, ModuleNotFoundError | OutOfTime)
        if isinstance(tree, ast.Import | ast.ImportFrom) and elsewhere:
            self.missing |= {alias.asname or alias.name.partition(".")[0] for alias in tree.names}
        elsewhere |= isinstance(error, NameError) and error.name in self.missing
        self.missing |= statement.assigned
        if isinstance(tree, ast.ClassDef) and elsewhere:  # what is made of it is missing as well
            self.missing.add(tree.name)
        definition = isinstance(tree, ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom)
        self.failures.append(Failure(place, sentence, definition and not elsewhere))

    def way_of(self, error: BaseException) -> list[tuple[Statement, int, FrameType]]:
        """List the lines of the program that an error came through, the innermost one last."""
        return [
            (statement, line, frame)
            for frame, line in traceback.walk_tb(error.__traceback__)
            for statement in self.statements
            if statement.holds(frame.f_code.co_filename, line)
        ]

    def line_of(self, error: BaseException) -> tuple[Statement, int, FrameType] | None:
        """Find the innermost line of the program that an error came through."""
        way = self.way_of(error)
        return way[-1] if way else None

    def place_of(self, error: BaseException) -> str:
        """Say where in the program an error came from, or nothing if it did not."""
        found = self.line_of(error)
        return f"{found[0].place(found[1])}: " if found else ""

    def _parse(self, cell: Cell) -> tuple[Cell, list[ast.stmt]]:
        """Parse a cell, and return it as it was read.

        A line that is not Python is reported, and fixed or left out.
        """
        lines = cell.source.split("\n")
        for _ in range(MOST_SYNTAX_ERRORS):
            source = "\n".join(lines)
            try:
                return replace(cell, source=source), ast.parse(source).body
            except (SyntaxError, ValueError) as error:
                at = min(getattr(error, "lineno", 1) or 1, len(lines))
                failure = Failure(cell.place(at), f"is not Python ({message_of(error)})", True)
                if failure not in self.failures:  # else the fix did not help
                    self.failures.append(failure)
                    lines = _put_right(lines, at, error) or _left_out(lines, at, error)
                else:
                    lines = _left_out(lines, at, error)
        return cell, []


def _put_right(lines: list[str], at: int, error: SyntaxError | ValueError) -> list[str] | None:
    """Fix what can be meant in only one way; None if there is nothing of that kind."""
    message = message_of(error)
    if isinstance(error, TabError):
        return [line.expandtabs() for line in lines]
    if message == "expected ':'":
        return [*lines[: at - 1], f"{lines[at - 1].rstrip()}:", *lines[at:]]
    if empty := re.search(r"expected an indented block after .* on line (\d+)$", message):
        opening = int(empty[1])
        return [*lines[: opening - 1], f"{lines[opening - 1].rstrip()} pass", *lines[opening:]]
    return None


def _left_out(lines: list[str], at: int, error: SyntaxError | ValueError) -> list[str]:
    """Replace a line by `pass`, and the block that it opens by nothing.

    A line that is indented too far goes with the whole block that it is in.
    """
    depth = _depth(lines[at - 1])
    if "unexpected indent" in message_of(error):
        depth = next((_depth(line) for line in reversed(lines[: at - 1]) if line.strip()), 0)
    end = at
    while end < len(lines) and (not lines[end].strip() or _depth(lines[end]) > depth):
        end += 1
    return [*lines[: at - 1], " " * depth + "pass", *[""] * (end - at), *lines[end:]]


def _depth(line: str) -> int:
    """Count the columns that a line is indented by."""
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


_SENTENCES: tuple[tuple[type[BaseException], str], ...] = (
    (SystemExit, "ends the program with sys.exit"),
    (EOFError, "asks for input, and here is nobody to give it"),
    (MemoryError, "needs more memory than it is allowed; --memory allows more"),
    (RecursionError, "calls itself without end"),
)


def sentence_of(error: BaseException) -> str:
    """Say in one sentence what an error means to whoever wrote the program."""
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind) or (kind is MemoryError and "allocate memory" in str(error)):
            return sentence
    if asks_for_gpu(error):
        return "asks for a GPU, and programs are checked without one"
    if isinstance(error, OutOfTime):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return f"imports {error.name}, which is not installed here"
    said = f"{type(error).__name__}: {message_of(error)}"
    if isinstance(error, IndexError) and str(error) == "index out of range in self":
        return f"{said}: an nn.Embedding has no row for an id, as one of the other language's words"
    return said


def asks_for_gpu(error: BaseException) -> bool:
    """Tell whether code names a device that it does not get here."""
    return re.search(r"\b(CUDA|NVIDIA|MPS)\b", message_of(error), re.IGNORECASE) is not None


def message_of(error: BaseException) -> str:
    """Return the first line of an error's message, which may be long, or say that there is none."""
    text = str(error.msg if isinstance(error, SyntaxError) else error).strip()
    return text.split("\n")[0][:200] or "without a message"
