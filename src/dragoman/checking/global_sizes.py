"""Sizes that a program keeps in global variables, where its classes read them."""

import inspect
from contextlib import suppress

from torch import nn

from dragoman.checking.arguments import CONSTRUCTOR, NotCheckableError, role_of, roles_of
from dragoman.checking.program import Program
from dragoman.checking.words import words_in
from dragoman.checking.workshop import SIZES, size_of


def fit_global_sizes(program: Program) -> None:
    """Give such variables the sizes of the check, also those that the program failed to compute.

    A class that is told a size has to use what it is told, so its globals of that meaning stay.
    """
    for value in [*program.names.values()]:
        if not (inspect.isclass(value) and issubclass(value, nn.Module)):
            continue
        if value.__module__ != program.module.__name__:
            continue
        with suppress(NotCheckableError):  # of a class without a signature nothing is known
            _fit(value, program)


def _fit(part: type[nn.Module], program: Program) -> None:
    told = {*roles_of(part, CONSTRUCTOR).values()}
    read = {word for method in vars(part).values() for word in words_in(method)}
    for name in read & program.assigned:
        role = role_of(name, CONSTRUCTOR)
        size = size_of(role, SIZES) if role and role not in told else None
        if size is not None and type(program.names.get(name, size)) is type(size):
            program.names[name] = size
