"""Slips of one line: a misspelt name, a bracket in the wrong place.

Each function looks at a line that an error came from. If it finds what is wrong, it edits the
syntax tree and says what it did.
"""

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from dragoman.checking.program import Statement
from dragoman.checking.spelling import closest

KEYWORDS = (
    *("dim", "keepdim", "unbiased", "correction", "dtype", "device", "diagonal", "requires_grad"),
    *("num_embeddings", "embedding_dim", "padding_idx", "in_features", "out_features", "bias"),
)
"""Keyword arguments of PyTorch, whose errors name what they got, not what they wanted."""

Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Slip:
    """A line that an error came from, and the names visible there."""

    error: BaseException
    statement: Statement
    line: int
    known: dict[str, Any]
    """The names that the line can see."""

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """Iterate over the nodes of one kind that are on the line."""
        for node in ast.walk(self.statement.tree):
            if isinstance(node, kind) and self._touches(node):
                yield node

    def _touches(self, node: ast.AST) -> bool:
        first = getattr(node, "lineno", 0)
        return bool(first <= self.line <= (getattr(node, "end_lineno", None) or first))


def _misspelt_name(slip: Slip) -> str | None:
    name = slip.error.name if isinstance(slip.error, NameError) else None
    meant = closest(name, slip.known) if name else None
    for node in slip.nodes(ast.Name):
        if meant and node.id == name:
            node.id = meant
            return f"there is no `{name}`; read as `{meant}`"
    return None


def _misspelt_attribute(slip: Slip) -> str | None:
    if not isinstance(slip.error, AttributeError):
        return None
    name = slip.error.name
    meant = closest(name, dir(slip.error.obj)) if name else None
    for node in slip.nodes(ast.Attribute):
        if meant and node.attr == name:
            node.attr = meant
            return f"there is no `{ast.unparse(node.value)}.{name}`; read as `{meant}`"
    return None


def _misspelt_keyword(slip: Slip) -> str | None:
    text = str(slip.error)
    if not isinstance(slip.error, TypeError) or "argument" not in text:
        return None
    for node in slip.nodes(ast.keyword):
        meant = closest(node.arg, KEYWORDS) if node.arg and node.arg not in KEYWORDS else None
        if meant and node.arg and node.arg in text:
            name, node.arg = node.arg, meant
            return f"there is no argument `{name}`; read as `{meant}`"
    return None


def _number_called(slip: Slip) -> str | None:
    """`self.dropout = dropout` keeps a rate; called as a layer, it fails."""
    if str(slip.error) != "'float' object is not callable":
        return None
    called = {
        node.func.attr for node in slip.nodes(ast.Call) if isinstance(node.func, ast.Attribute)
    }
    for node in ast.walk(slip.statement.tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and isinstance(target, ast.Attribute)
            and target.attr in called
            and "drop" in target.attr
        ):
            before = ast.unparse(node)
            layer = ast.parse(f"__import__('torch').nn.Dropout({ast.unparse(node.value)})")
            node.value = layer.body[0].value  # type: ignore[attr-defined]
            return f"`{before}` keeps a number, which is called as a layer; read as nn.Dropout"
    return None


def _misspelt_argument(slip: Slip) -> str | None:
    """`def __init__(self, d_moel)` with `d_model` in its body finds a global of that name."""
    if not isinstance(slip.error, RuntimeError):
        return None
    for function in ast.walk(slip.statement.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        arguments = [argument.arg for argument in function.args.args]
        for argument in function.args.args:
            meant = closest(argument.arg, read - set(arguments) - set(vars(builtins)))
            if meant and argument.arg not in read:
                name, argument.arg = argument.arg, meant
                return f"the argument `{name}` is never used, a global `{meant}` is; read as that"
    return None


def _starred_number(slip: Slip) -> str | None:
    """`x.float(*(a))` is `x.float() * (a)` with the bracket in the wrong place."""
    if "argument after * must be an iterable" not in str(slip.error):
        return None
    for parent in slip.nodes(ast.Call):
        for index, node in enumerate(parent.args):
            if isinstance(node, ast.Call) and [type(a) for a in node.args] == [ast.Starred]:
                (star,) = node.args
                before, node.args = ast.unparse(node), []
                parent.args[index] = ast.BinOp(node, ast.Mult(), star.value)  # type: ignore[attr-defined]
                return f"`{before}` unpacks a number; read as `{ast.unparse(parent.args[index])}`"
    return None


KINDS: tuple[Callable[[Slip], str | None], ...] = (
    _misspelt_name,
    _misspelt_attribute,
    _misspelt_keyword,
    _number_called,
    _misspelt_argument,
    _starred_number,
)
