"""`dragoman serve` in a process of its own, as it is used."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


def serve(model: Path, *, port: int = 0) -> list[str]:
    """Write the command that serves a model, on a free port if none is named."""
    return [sys.executable, "-m", "dragoman", "serve", str(model), "--port", str(port)]


@contextmanager
def process(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server, and give its address when it has said it."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as server:
        assert server.stdout is not None
        said = []
        for line in server.stdout:
            said.append(line)
            if line.startswith("page "):
                break
        else:
            pytest.fail("".join(said))
        try:
            yield server, said[-1].split()[1].rstrip("/")
        finally:
            server.kill()


def memory(server: subprocess.Popen[str]) -> float:
    """Read how much memory a process has now, in MiB."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.split("\n") if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def num_files(server: subprocess.Popen[str]) -> int:
    """Count the files and connections that a process has open."""
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def num_threads(server: subprocess.Popen[str]) -> int:
    """Count the threads of a process."""
    return len(list(Path(f"/proc/{server.pid}/task").iterdir()))
