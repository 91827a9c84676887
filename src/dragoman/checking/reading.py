"""What only the text of a program shows: lines that do nothing."""

import ast
from collections.abc import Iterator

from dragoman.checking.examinations.check import Check, Verdict
from dragoman.checking.program import Program, Statement

DROPPED = Check(
    name="result-dropped",
    finding="A line computes something, and its result is lost.",
    why="These methods give a new tensor and leave their own as it was.",
    section="-",
)
BUFFER = Check(
    name="buffer-gradient",
    finding="A line turns off the gradient of a buffer, which has none.",
    why="It is harmless; that positions do not learn comes from register_buffer.",
    section="-",
    kind="note",
)

GIVE_A_NEW_TENSOR = {
    *("masked_fill", "transpose", "permute", "view", "reshape", "unsqueeze", "squeeze", "flatten"),
    *("softmax", "log_softmax", "tril", "triu", "expand", "contiguous", "chunk", "relu", "sqrt"),
}
"""Tensor methods that no other common object has."""

NEED_AN_ARGUMENT = {"view", "expand"}
"""Those that other objects have without one: a drawing is shown, and a node of a search grows."""


def lines_without_effect(statement: Statement, program: Program) -> Iterator[Verdict]:
    """Find results discarded inside functions, and gradients that are turned off twice."""
    for line in _alone_in_functions(statement.tree):
        if _gives_a_new_tensor(line.value) and _method(line.value) not in program.functions:
            written = ast.get_source_segment(statement.cell.source, line)
            place = statement.place(line.lineno)
            yield DROPPED, f"{place}: `{written}` stands alone, and no name gets its result"
    buffers = {
        str(call.args[0].value)
        for call in _calls(statement.tree, "register_buffer")
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    for call in _calls(statement.tree, "requires_grad_"):
        for name in buffers & _attributes(call):
            said = f"`{name}` is a buffer, and requires_grad is False already"
            yield BUFFER, f"{statement.place(call.lineno)}: {said}"


def _gives_a_new_tensor(node: ast.expr) -> bool:
    """Tell whether a tensor's method is called, and changes nothing."""
    method = _method(node)
    is_bare = isinstance(node, ast.Call) and not (node.args or node.keywords)
    return method in GIVE_A_NEW_TENSOR and not (is_bare and method in NEED_AN_ARGUMENT)


def _alone_in_functions(tree: ast.AST) -> list[ast.Expr]:
    """Collect the expressions that stand alone; outside functions, a notebook shows them."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    nodes = dict.fromkeys(node for function in functions for node in ast.walk(function))
    return [node for node in nodes if isinstance(node, ast.Expr)]


def _calls(tree: ast.AST, method: str) -> Iterator[ast.Call]:
    """Iterate over the calls of a method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _method(node) == method:
            yield node


def _method(node: ast.expr) -> str | None:
    """Tell which method is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return None


def _attributes(call: ast.Call) -> set[str]:
    """Collect the attributes in what a method is called on."""
    return {node.attr for node in ast.walk(call.func) if isinstance(node, ast.Attribute)}
