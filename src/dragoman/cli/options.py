"""Options shared by several commands."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token, validators

from dragoman.errors import UsageError

NAMES = {"sampling_temperature": "--sample"}
"""Names of options that differ from those of their settings."""


def read_whole_number(_: type, tokens: Sequence[Token]) -> int:
    """Read the value of an option; cyclopts by itself would round 2.5 to a whole number.

    Raises:
        ValueError: it is not a whole number.
    """
    (token,) = tokens
    try:
        return int(token.value)
    except ValueError:
        raise ValueError(f'"{token.value}" is not a whole number') from None


def read_file_name(_: type, tokens: Sequence[Token]) -> Path:
    """Read the name of a file to write; as a path alone, `out/` would be the file `out`.

    Raises:
        ValueError: it is the name of a folder.
    """
    (token,) = tokens
    if token.value.endswith("/"):
        raise ValueError(f'"{token.value}" names a folder; add the name of a file')
    return Path(token.value)


@contextmanager
def settings_are_options(names: Collection[str]) -> Iterator[None]:
    """Write settings as options in an error, such as `--beam-size 0` for `beam_size=0`.

    Raises:
        UsageError: a setting has an invalid value.
    """
    try:
        yield
    except ValueError as error:
        options = {name: NAMES.get(name, f"--{name.replace('_', '-')}") for name in names}
        said = re.sub(
            rf"(?:\ba )?\b({'|'.join(options)})\b(?:\[\d+\])?( ?= ?)?",
            lambda found: options[found[1]] + (" " if found[2] else ""),
            str(error),
        )
        raise UsageError(said) from error


def _check_languages(_: Any, text: str | None) -> None:
    from dragoman.corpora.languages import parse_languages

    if text is not None:  # an option that was not given
        parse_languages(text)


MOST_MINUTES = 525_600
"""A year."""

Flag = Annotated[bool, Parameter(negative=())]
"""There is no `--no-` before it."""

WholeNumber = Annotated[int, Parameter(converter=read_whole_number)]
Count = Annotated[WholeNumber, Parameter(validator=validators.Number(gte=1))]
Jobs = Annotated[Count | None, Parameter(name=["--jobs", "-j"])]
Languages = Annotated[str, Parameter(validator=_check_languages)]
Minutes = Annotated[float, Parameter(validator=validators.Number(gt=0, lte=MOST_MINUTES))]
Files = Annotated[tuple[Path, ...], Parameter(negative=())]
Assignments = Annotated[tuple[str, ...], Parameter(name="--set", negative=())]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OutputIfAny = Annotated[Path | None, Parameter(name=["--output", "-o"])]
FileToWrite = Annotated[Path, Parameter(converter=read_file_name)]
OutputFile = Annotated[FileToWrite, Parameter(name=["--output", "-o"])]
OutputFileIfAny = Annotated[FileToWrite | None, Parameter(name=["--output", "-o"])]
