"""What holds the settings of a program's parts: a class, a dictionary, a namespace."""

import copy
import inspect
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from keyword import iskeyword
from types import SimpleNamespace
from typing import Any

from torch import nn

from dragoman.checking.arguments import CONSTRUCTOR, roles_of

Maker = Callable[..., Any]
"""Makes a configuration from settings by name."""

_NAMED_SO = re.compile(r"conf|cfg|args|param|setting", re.IGNORECASE)
"""What occurs in the name of a class that may be built to see what it holds."""

_OF_SIZES = frozenset({"d_model", "heads", "layers", "d_ff", "length"}).union(
    {"vocab", "source_vocab", "target_vocab", "expansion", "head_width"}
)
LEAST_SIZES = 2
"""How many sizes a configuration has at least; others hold words, paths or training settings."""

MOST_SETTINGS = 100
"""A larger dictionary is a vocabulary."""


class _Alike:
    """Makes configurations like one that the program has, with other settings.

    >>> alike = _Alike({"d_model": 512, "heads": 8})
    >>> inspect.signature(alike), alike(heads=3)
    (<Signature (*, d_model=512, heads=8)>, {'d_model': 512, 'heads': 3})
    """

    def __init__(self, pattern: Any) -> None:
        self.pattern = pattern
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
                for name, value in _settings_in(pattern).items()
                if name.isidentifier() and not iskeyword(name)
            ]
        )

    def __call__(self, **settings: Any) -> Any:
        made = copy.copy(self.pattern)
        if isinstance(made, dict):
            made.update(settings)
        else:
            vars(made).update(settings)
        return made


def find_configurations(names: Mapping[str, Any], module: str) -> dict[str, Maker]:
    """Find what makes the configurations of a program, by its classes and variables.

    Args:
        names: All of the program's names.
        module: The name of the program, to which its own classes belong.
    """
    makers = {
        name: _maker(value, module) for name, value in names.items() if not name.startswith("__")
    }
    return {name: each for name, each in makers.items() if each and _num_sizes(each) >= LEAST_SIZES}


def most_likely(makers: Iterable[Maker]) -> Maker | None:
    """Find the one with most sizes; None if others with as many have other settings."""
    ordered = sorted(makers, key=_num_sizes, reverse=True)
    fields = [
        frozenset(inspect.signature(maker).parameters)
        for maker in ordered
        if _num_sizes(maker) == _num_sizes(ordered[0])
    ]
    return ordered[0] if len({*fields}) == 1 else None


def _maker(value: Any, module: str) -> Maker | None:
    """Tell how to make another of what may be a configuration; None if it cannot be one."""
    if isinstance(value, dict | SimpleNamespace | Namespace):
        return _Alike(value) if len(_settings_in(value)) <= MOST_SETTINGS else None
    if not inspect.isclass(value) or value.__module__ != module or issubclass(value, nn.Module):
        return None
    if is_dataclass(value) or hasattr(value, "_fields"):  # a named tuple
        return value
    if _NAMED_SO.search(value.__name__):
        with suppress(Exception, SystemExit):  # of whatever its constructor wants or reads
            return value if _num_sizes(value) >= LEAST_SIZES else _Alike(value())
    return None


def _settings_in(pattern: Any) -> dict[str, Any]:
    """List what it holds: keys, attributes, and attributes of its class."""
    if isinstance(pattern, dict):
        return {key: value for key, value in pattern.items() if isinstance(key, str)}
    of_class = {
        name: value
        for kind in reversed(type(pattern).__mro__[:-1])
        for name, value in vars(kind).items()
        if not (
            name.startswith("_") or callable(value) or isinstance(value, property | classmethod)
        )
    }
    return of_class | vars(pattern)


def _num_sizes(maker: Maker) -> int:
    """Count the settings that are sizes of a model."""
    try:
        return len(_OF_SIZES.intersection(roles_of(maker, CONSTRUCTOR).values()))
    except (TypeError, ValueError):
        return 0
