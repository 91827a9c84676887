"""What checks types and shapes while the tests run; named in `pyproject.toml`."""

from collections.abc import Callable
from typing import Any

from beartype import beartype


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the calls of a function, unless it stands in another one.

    Such a function is made anew at each call of the other, and to write its checks each time takes
    many times as long as the call.
    """
    return function if "<locals>" in function.__qualname__ else beartype(function)
