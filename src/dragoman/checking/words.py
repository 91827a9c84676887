"""Which names and numbers occur in a learner's code, for what its results do not tell."""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any


def words_in(function: Any) -> Iterator[str]:
    """Iterate over what a function's code calls, reads and computes with, inner functions included.

    >>> sorted(words_in(lambda x: (y.width**0.5 for y in x.parts)))
    ['0.5', 'parts', 'width']
    """
    if isinstance(function, property):
        function = function.fget
    code = getattr(inspect.unwrap(function), "__code__", None)
    return iter(()) if code is None else _words_of(code)


def words_in_class(kind: Callable[..., Any]) -> Iterator[str]:
    """Iterate over the same of all methods of a class."""
    for method in vars(kind).values():
        yield from words_in(method)


def _words_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _words_of(constant)
        elif isinstance(constant, float):
            yield str(constant)


def is_of_torch(value: Any) -> bool:
    """Tell whether a class or function is PyTorch's own, or an object is of such a class."""
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "torch"
