"""Options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token, validators


def read_whole_number(_: type, tokens: Sequence[Token]) -> int:
    """Read what stands behind an option; cyclopts by itself would round 2.5 to a whole number.

    Raises:
        ValueError: it is no whole number.
    """
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise ValueError(f'"{token.value}" is not a whole number') from None


def _check_languages(_: Any, text: str | None) -> None:
    from dragoman.corpora.languages import parse_languages

    if text is not None:  # an option that was not given
        parse_languages(text)


WholeNumber = Annotated[int, Parameter(converter=read_whole_number)]
Count = Annotated[WholeNumber, Parameter(validator=validators.Number(gte=1))]
Languages = Annotated[str, Parameter(validator=_check_languages)]
Minutes = Annotated[float, Parameter(validator=validators.Number(gt=0, lt=float("inf")))]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OutputIfAny = Annotated[Path | None, Parameter(name=["--output", "-o"])]
