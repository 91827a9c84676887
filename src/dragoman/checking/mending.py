"""Slips that stop a program: each is reported, and fixed so that the rest can be examined.

A model with a misspelt name does not run, and so hides the mistakes that would run. Fixes are
edits of the syntax tree, not of the file. They are made only where the error itself says what is
missing, and there is one obvious thing to put in its place.
"""

import ast
import builtins
import importlib
import re
from dataclasses import dataclass

from torch import nn

from dragoman.checking.examinations.check import Check
from dragoman.checking.examinations.every_part import OUTSIDE, RUNS
from dragoman.checking.program import Program, Statement
from dragoman.checking.slips import KINDS, Slip
from dragoman.checking.spelling import closest

IMPORTS = Check(
    name="import-missing",
    finding="What an excerpt uses is not imported in it.",
    why="It has to be added before the code is run.",
    section="-",
    kind="note",
)

USUAL_IMPORTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "math": "math",
    "copy": "copy",
    "np": "numpy",
}
"""What snippets use and expect to be imported."""


@dataclass(frozen=True)
class Mend:
    """What was wrong, and what was put in its place."""

    statement: Statement
    """The one that has to be run again."""

    sentence: str
    check: Check = RUNS


def mend(error: BaseException, program: Program) -> Mend | None:
    """Fix the slip that an error comes from.

    Returns:
        None if it is not a slip of a known kind.
    """
    if isinstance(error, NotImplementedError):
        return _name_forward(error, program)
    found = program.line_of(error)
    if found is None:
        return None
    statement, line, frame = found
    place = statement.place(line)
    if isinstance(error, NameError) and error.name in USUAL_IMPORTS:
        program.names[error.name] = importlib.import_module(USUAL_IMPORTS[error.name])
        said = f"{place}: `{error.name}` is used and never imported"
        return Mend(statement, said, IMPORTS if statement.cell.is_excerpt else RUNS)
    slip = Slip(error, statement, line, vars(builtins) | program.names | frame.f_locals)
    for kind in KINDS:
        if sentence := kind(slip):
            ast.fix_missing_locations(statement.tree)
            return Mend(statement, f"{place}: {sentence}")
    return _call_own_module(error, program) if isinstance(error, RuntimeError) else None


def _name_forward(error: BaseException, program: Program) -> Mend | None:
    """`module(x)` calls `forward`; a method of another name is never called."""
    named = re.search(r"Module \[(\w+)\] is missing the required", str(error))
    for statement in program.statements:
        tree = statement.tree
        if not named or not isinstance(tree, ast.ClassDef) or tree.name != named[1]:
            continue
        methods = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and not node.decorator_list
        ]
        if len(methods) == 1:
            name, methods[0].name = methods[0].name, "forward"
            place = statement.place(methods[0].lineno)
            said = f"{place}: the method is called `{name}`; the module has no `forward`"
            return Mend(statement, said)
    return None


def _call_own_module(error: BaseException, program: Program) -> Mend | None:
    """`network(x)`, where the module has a `self.network`, calls a global of other sizes."""
    for statement, line, frame in program.way_of(error):
        module = frame.f_locals.get("self")
        if not isinstance(module, nn.Module):
            continue
        own = [name for name, _ in module.named_children()]
        known = [name for name, value in program.names.items() if isinstance(value, nn.Module)]
        meant = {name: name if name in own else closest(name, own) for name in known}
        reading = _ReadAsOwn({name: other for name, other in meant.items() if other}, line)
        reading.visit(statement.tree)
        if reading.name:
            ast.fix_missing_locations(statement.tree)
            said = f"the global `{reading.name}` is called; read as `self.{meant[reading.name]}`"
            return Mend(statement, f"{statement.place(line)}: {said}", OUTSIDE)
    return None


class _ReadAsOwn(ast.NodeTransformer):
    """Replaces a global on a line by an attribute of the module."""

    def __init__(self, attributes: dict[str, str], line: int) -> None:
        self.attributes, self.line = attributes, line
        self.name = ""
        """The one that was replaced."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace one name."""
        if node.lineno != self.line or node.id not in self.attributes:
            return node
        self.name = node.id
        return ast.Attribute(ast.Name("self", ast.Load()), self.attributes[node.id], ast.Load())
