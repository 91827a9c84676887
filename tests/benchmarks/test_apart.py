"""What is measured in another process is known at once, and kept whatever comes later."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from dragoman.errors import DragomanError

from .conftest import BENCHMARKS, Load

MEASURED = {"subject": "mine", "speed": 1}
PROGRAM = """
import os, sys, time
from dataclasses import dataclass

from apart import tell


@dataclass
class Measurement:
    subject: str = "mine"
    speed: int = 1


def measure():
    yield Measurement()
    deadline = time.monotonic() + 10
    while not os.path.exists(sys.argv[1]):
        assert time.monotonic() < deadline, "nobody has seen it"
        time.sleep(0.01)


print("a line of a library")
tell("mine", measure)
"""


@dataclass
class Measurement:
    subject: str
    speed: int


def test_a_result_is_passed_on_while_its_process_goes_on(
    tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stderr(StringIO):
        def write(self, text: str) -> int:
            if text == json.dumps(MEASURED) + "\n":
                (tmp_path / "seen").touch()
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", Stderr())
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "seen")]
    path = os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": ""}

    results = load("apart").measure_apart("mine", command, environment)

    assert results == [MEASURED]


def test_a_process_that_dies_keeps_what_it_has_told(load: Load) -> None:
    program = f"print('{json.dumps(MEASURED)}', flush=True); import os; os._exit(9)"
    command = [sys.executable, "-c", program]

    measured, lost = load("apart").measure_apart("mine", command, os.environ)

    assert measured == MEASURED
    assert lost == {"subject": "mine", "left_out": "its process ended with status 9"}


@pytest.mark.parametrize(
    ("error", "reason", "has_traceback"),
    [
        (DragomanError("not installed"), "not installed", False),
        (RuntimeError("out of memory"), "RuntimeError: out of memory", True),
    ],
)
def test_an_error_comes_after_what_was_measured(
    error: Exception,
    reason: str,
    has_traceback: bool,
    load: Load,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measure() -> Iterator[Measurement]:
        yield Measurement("mine", 1)
        raise error

    load("apart").tell("mine", measure)

    told = capsys.readouterr()
    assert [json.loads(line) for line in told.out.splitlines()] == [
        MEASURED,
        {"subject": "mine", "left_out": reason},
    ]
    assert ("Traceback" in told.err) == has_traceback
