"""The options that say what computes, of every command that translates."""

from dataclasses import dataclass
from typing import Literal

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What translates, and where."""

    engine: Literal["auto", "pytorch", "ctranslate2"] = "auto"
    """ctranslate2 needs the copy that `dragoman export` makes; auto takes it if it is there."""

    device: str = "auto"
    """A name that PyTorch knows, as cpu or cuda:1; auto takes a GPU if there is one."""
