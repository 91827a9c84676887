"""What a process frees stays with it."""

import subprocess
import sys

import pytest

from dragoman.training.memory import keep_freed_memory

PROGRAM = """
import resource, sys, torch
from dragoman.training.memory import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
for _ in range(12):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.zeros(16 * 2**20) + 1
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults)
"""


def page_faults(way: str) -> int:
    """Count the pages that are fetched for two tensors of 64 MiB, after a while."""
    command = [sys.executable, "-c", PROGRAM, way]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_memory_is_fetched_once() -> None:
    assert page_faults("kept") < 0.1 * page_faults("returned")


def test_another_allocator_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", None)

    keep_freed_memory()  # and does not ask the C library for what it lacks
