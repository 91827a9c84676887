"""`dragoman inspect`: what a model directory holds."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter


def inspect(model: Path, /, *, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """Show a model: parameters by part, text, scores, fingerprints.

    Parameters
    ----------
    model
        A model directory.
    json
        Write JSON, for programs.
    """
