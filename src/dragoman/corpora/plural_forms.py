"""Which form of a word goes with a number, by the formula in the header of a PO file."""

import operator
import re
from collections.abc import Callable

_TOKEN = re.compile(r"(\d{1,9}|[<>=!]=|&&|\|\||[-+*/%<>?:()!n])")

_OPERATORS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda one, other: int(bool(one or other))},
    {"&&": lambda one, other: int(bool(one and other))},
    {"==": operator.eq, "!=": operator.ne},
    {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)
"""Those of C, from the one that binds least."""

MAX_LENGTH = 1000
"""Characters; the longest formula in use has a quarter of them."""


def plural_form(plural_forms: str, number: int) -> int | None:
    """Return the number, from 0, of the form that goes with a number of things.

    Args:
        plural_forms: What the header says, such as `nplurals=2; plural=(n != 1);`.
        number: Of the things.

    Returns:
        None if there is no formula, or none that can be computed.

    >>> plural_form("nplurals=2; plural=n != 1;", 1), plural_form("nplurals=2; plural=n != 1;", 5)
    (0, 1)
    >>> plural_form("nplurals=2; plural=EXPRESSION;", 1)
    """
    found = re.search(r"\bplural\s*=([^;]*)", plural_forms)
    if found is None or len(found[1]) > MAX_LENGTH:
        return None
    try:
        return int(_Formula(found[1], number).value())
    except (ValueError, ZeroDivisionError, RecursionError):
        return None


class _Formula:
    """A formula of C with one variable, computed as it is read; each rule reads what it can."""

    def __init__(self, text: str, number: int) -> None:
        self._tokens = _tokens(text)
        self._number = number

    def value(self) -> int:
        """Compute the whole formula."""
        value = self._choice()
        self._expect("")
        return value

    def _choice(self) -> int:
        condition = self._operation(0)
        if not self._take("?"):
            return condition
        if_true = self._choice()
        self._expect(":")
        if_false = self._choice()
        return if_true if condition else if_false

    def _operation(self, level: int) -> int:
        if level == len(_OPERATORS):
            return self._operand()
        value = self._operation(level + 1)
        while (token := self._tokens[-1]) in _OPERATORS[level]:
            self._tokens.pop()
            value = _OPERATORS[level][token](value, self._operation(level + 1))
        return value

    def _operand(self) -> int:
        if self._take("("):
            value = self._choice()
            self._expect(")")
            return value
        if self._take("!"):
            return int(not self._operand())
        return self._number if self._take("n") else int(self._tokens.pop())

    def _take(self, token: str) -> bool:
        """Read a token if it is next."""
        is_next = self._tokens[-1] == token
        if is_next:
            self._tokens.pop()
        return is_next

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError


def _tokens(text: str) -> list[str]:
    """Return the tokens, last first, before them an empty one for the end."""
    tokens: list[str] = _TOKEN.findall(text)
    if "".join(tokens) != "".join(text.split()):  # there is something else in it
        raise ValueError
    return ["", *reversed(tokens)]
