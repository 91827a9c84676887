"""A server in a process of its own, and what that process uses."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

OURS = ("-m", "dragoman", "serve", "--port", "0")
PLAIN = (str(Path(__file__).with_name("serving_plain.py")),)


class Server(NamedTuple):
    """A running server."""

    port: int
    pid: int
    seconds_to_start: float

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds that it has used so far, on all cores."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").split(") ")[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, field: str = "VmRSS") -> float:
        """Read its memory in MiB: now, or at its peak with `VmHWM`."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        line = next(line for line in status.split("\n") if line.startswith(field))
        return int(line.split()[1]) / 1024

    def count(self, folder: str) -> int:
        """Count its files and connections (`fd`), or its threads (`task`)."""
        return len(list(Path(f"/proc/{self.pid}/{folder}").iterdir()))


@contextmanager
def serving(model: Path, program: tuple[str, ...] = OURS) -> Iterator[Server]:
    """Start a server that says where its page is."""
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *program, str(model)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("page "))
        try:
            port = int(line.rstrip("/\n").split(":")[-1])
            yield Server(port, process.pid, time.monotonic() - began)
        finally:
            process.terminate()
