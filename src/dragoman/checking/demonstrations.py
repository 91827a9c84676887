"""What a program shows of its parts: numbers that dropout has changed teach the wrong thing."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dragoman.checking.calls import first_tensor
from dragoman.checking.examinations.check import Check, Verdict, distance
from dragoman.checking.limits import OutOfTime, time_limit
from dragoman.checking.program import SECONDS_A_STATEMENT, Program, Statement
from dragoman.checking.words import is_of_torch

IN_TRAINING = Check(
    name="shown-in-training",
    finding="What a module gives in training mode is shown as its result.",
    why="Dropout has put zeros among the numbers and enlarged the others, anew each time; eval() "
    "switches it off.",
    section="5.4",
    kind="note",
)


@dataclass(frozen=True)
class Result:
    """What a module in training mode returned, and where."""

    module: nn.Module
    call: ast.Call
    place: str


class Demonstrations:
    """Follows a program from the call of a module to the line that shows what came out."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.results: dict[str, Result] = {}

    def watch(self, statement: Statement) -> Iterator[Verdict]:
        """Examine a statement that has just been run."""
        tree = statement.tree
        if isinstance(tree, ast.Assign):
            for target in tree.targets:
                if isinstance(target, ast.Name):
                    self.results.pop(target.id, None)
                    if result := self._result_of(tree.value, statement):
                        self.results[target.id] = result
        for shown in _shown(statement):
            if isinstance(shown, ast.Name):
                result = self.results.pop(shown.id, None)
            else:
                result = self._result_of(shown, statement)
            if result and (said := self._compare(result)):
                where = f"{statement.place()} shows `{ast.unparse(shown)}`"
                yield IN_TRAINING, f"{where}; made at {result.place}, {said}"

    def _result_of(self, node: ast.expr, statement: Statement) -> Result | None:
        """Recognise a call of a learner's module that is in training mode."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            return None
        module = self.program.names.get(node.func.id)
        if not isinstance(module, nn.Module) or not module.training or is_of_torch(module):
            return None
        return Result(module, node, statement.place(node.lineno))

    def _compare(self, result: Result) -> str | None:
        """Say what is wrong with a result if its module gives another one in evaluation mode."""
        modes = [(child, child.training) for child in result.module.modules()]
        try:
            with time_limit(SECONDS_A_STATEMENT), torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(0)  # for reproducible reports
                trained = self._again(result)
                result.module.eval()
                evaluated = self._again(result)
        except (Exception, OutOfTime):
            return None  # it has run once, and what it needs may be gone
        finally:
            for child, mode in modes:
                child.training = mode
        if trained.shape != evaluated.shape or torch.equal(trained, evaluated):
            return None
        zeros = (trained == 0).float().mean().item()
        told = f"{zeros:.0%} of its numbers are 0, and " if zeros else ""
        apart = distance(trained, evaluated)
        return f"{told}in evaluation mode its numbers differ by up to {apart:.2g}"

    def _again(self, result: Result) -> Tensor:
        code = compile(ast.Expression(result.call), "<again>", "eval")
        with torch.no_grad():
            return first_tensor(eval(code, self.program.names))


def _shown(statement: Statement) -> Iterator[ast.expr]:
    """Iterate over what a statement prints or, in a notebook, shows."""
    if not isinstance(statement.tree, ast.Expr):
        return
    value = statement.tree.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) in {"print", "display"}:
        yield from value.args
    elif statement.cell.is_of_notebook:
        yield from value.elts if isinstance(value, ast.Tuple) else [value]
