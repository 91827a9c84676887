"""The options that say what computes, of every command that translates."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from dragoman.translator import Translator


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What translates, and where."""

    engine: Literal["auto", "pytorch", "ctranslate2"] = "auto"
    """ctranslate2 needs the copy that `dragoman export` makes; auto takes it if it is there."""

    device: str = "auto"
    """A name that PyTorch knows, as cpu or cuda:1; auto takes a GPU if there is one."""


def announce(translator: "Translator") -> None:
    """Tell a person who waits what computes; a program that reads standard error is not told."""
    if sys.stderr.isatty():
        print(f"translating with {translator.engine}", file=sys.stderr)
