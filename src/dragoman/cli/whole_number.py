"""A whole number of the command line; cyclopts by itself would round 2.5 to one."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter, Token


def read_whole_number(_: type, tokens: Sequence[Token]) -> int:
    """Read what stands behind an option.

    Raises:
        ValueError: it is no whole number.
    """
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise ValueError(f'"{token.value}" is not a whole number') from None


WholeNumber = Annotated[int, Parameter(converter=read_whole_number)]
