"""Subjects of a benchmark, each measured in a process of its own and told of at once.

Such a process writes a line of JSON for each result. It goes to standard error as soon as it is
there, so that it is not lost if a later subject fails or the benchmark is stopped.
"""

import json
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dragoman.errors import DragomanError

Result = dict[str, Any]
"""A measurement with the name of its `subject`, or why there is none: `left_out`."""

BEGIN = '{"subject": '


def tell(subject: str, measure: Callable[[], Iterable[Any]]) -> None:
    """Write each measurement when it is there; an error is a result, too."""
    try:
        for measurement in measure():
            print(json.dumps(asdict(measurement)), flush=True)
    except Exception as error:
        print(json.dumps(left_out(subject, error)), flush=True)


def left_out(subject: str, error: Exception) -> Result:
    """Say why a subject is not measured; what nobody foresaw gets its traceback."""
    if isinstance(error, DragomanError):
        return {"subject": subject, "left_out": str(error)}
    traceback.print_exception(error)
    return {"subject": subject, "left_out": f"{type(error).__name__}: {error}"}


def measure_apart(
    subject: str, command: Sequence[str], environment: Mapping[str, str]
) -> list[Result]:
    """Run a command that tells of a subject, and collect its results."""
    results = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        for line in process.stdout or ():
            print(line, end="", file=sys.stderr, flush=True)
            if line.startswith(BEGIN):
                results.append(json.loads(line))
    if process.returncode != 0:
        reason = f"its process ended with status {process.returncode}"
        results.append({"subject": subject, "left_out": reason})
    return results
