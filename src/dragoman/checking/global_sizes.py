"""Sizes that a program keeps in global variables, where its classes read them."""

import ast
import inspect
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from torch import nn

from dragoman.checking.arguments import CONSTRUCTOR, NotCheckableError, role_of, roles_of
from dragoman.checking.construction import SIZES, size_of
from dragoman.checking.limits import OutOfTime
from dragoman.checking.program import Program, Statement
from dragoman.checking.words import words_in


def fit_global_sizes(program: Program) -> set[str]:
    """Give such variables the sizes of the check, also those that the program failed to compute.

    A class that is told a size has to use what it is told, so its globals of that meaning stay.
    What the program has computed from a variable that is changed here is computed again.

    Returns:
        Variables that may be sizes beside those that were changed, and keep the program's value.
    """
    read: set[str] = set()
    fitted: set[str] = set()
    for value in [*program.names.values()]:
        if _is_own(value, program) and inspect.isclass(value) and issubclass(value, nn.Module):
            words = {*_read_by(vars(value).values(), program)}
            read |= words
            with suppress(NotCheckableError):  # of a class without a signature nothing is known
                fitted |= _fit(value, words, program)
    computed = _compute_again(program, read, fitted)
    left = {
        name
        for name in (read & program.assigned) - computed
        if type(program.names.get(name)) is int and role_of(name, CONSTRUCTOR) is None
    }
    return left if fitted else set()


def _fit(part: type[nn.Module], read: set[str], program: Program) -> set[str]:
    """Change the variables that a class reads; return which were changed."""
    told = {*roles_of(part, CONSTRUCTOR).values()}
    fitted = set()
    for name in read & program.assigned:
        role = role_of(name, CONSTRUCTOR)
        size = size_of(role, SIZES) if role and role not in told else None
        if size is not None and type(program.names.get(name, size)) is type(size):
            program.names[name] = size
            fitted.add(name)
    return fitted


def _compute_again(program: Program, read: set[str], fitted: set[str]) -> set[str]:
    """Run again the assignments between a changed variable and what the classes read.

    Returns:
        All that is changed then.
    """
    assignments = [
        (statement, statement.assigned, {*_names_in(statement, program)})
        for statement in program.statements
        if statement.assigned
    ]
    needed = set(read)
    for _, targets, names in reversed(assignments):
        if targets & needed:
            needed |= names
    changed = set(fitted)
    for statement, targets, names in assignments:
        if targets & needed and names & changed and not targets & fitted:
            with suppress(Exception, OutOfTime):  # what cannot be computed stays as it is
                program.execute(statement)
            changed |= targets
    return changed


def _names_in(statement: Statement, program: Program) -> Iterator[str]:
    """Iterate over what a statement reads, also in the functions that it calls."""
    for node in ast.walk(statement.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
            yield from _read_by([program.names.get(node.id)], program)


def _read_by(functions: Iterable[Any], program: Program) -> Iterator[str]:
    """Iterate over what functions read, also in the program's functions that they call."""
    for function in functions:
        for word in words_in(function):
            yield word
            called = program.names.get(word)
            if inspect.isfunction(called) and _is_own(called, program):
                yield from words_in(called)


def _is_own(value: Any, program: Program) -> bool:
    return getattr(value, "__module__", None) == program.module.__name__
