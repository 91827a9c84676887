"""What a process frees stays with it, and what it may take is told."""

import math
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.bulk.job import TranslatorSettings
from dragoman.memory import HUGE_BYTES, keep_freed_memory, peak_mib, room_mib
from dragoman.translator import Translator

MODEL = Path(__file__).parent / "fixtures" / "release-0.1.0" / "model"

PROGRAM = """
import os, resource, torch
from dragoman.memory import keep_freed_memory
for way in ("kept", "returned"):
    if os.fork() == 0:
        if way == "kept":
            keep_freed_memory()
        for _ in range(12):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            torch.zeros(16 * 2**20) + 1
            faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        print(faults, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_memory_is_fetched_once() -> None:
    """Count the pages that are fetched for two tensors of 64 MiB, after a while."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, check=True)

    kept, returned = map(int, done.stdout.split())
    assert kept < 0.1 * returned


def test_commands_keep_what_pytorch_frees_and_programs_decide_for_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []
    monkeypatch.setattr("dragoman.memory.keep_freed_memory", lambda: calls.append("kept"))

    Translator(MODEL, engine="pytorch")
    TranslatorSettings(model=MODEL, engine="ctranslate2").load()
    assert not calls

    TranslatorSettings(model=MODEL, engine="pytorch", device="cpu").load()
    assert calls == ["kept"]


def test_another_allocator_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", None)

    keep_freed_memory()  # and does not ask the C library for what it lacks


OWN_PEAK = "from dragoman.memory import peak_mib; bytearray(2**26); print(peak_mib())"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has its parent's peak")
def test_the_peak_is_that_of_the_process_alone_and_stays() -> None:
    held = bytearray(2**29)
    assert peak_mib() > len(held) / 2**20
    del held
    assert peak_mib() > 2**9

    done = subprocess.run([sys.executable, "-c", OWN_PEAK], stdout=subprocess.PIPE, check=True)

    assert 2**6 < float(done.stdout) < 2**9


@pytest.mark.skipif(sys.platform != "linux", reason="of /proc")
def test_a_system_that_does_not_tell_the_peak_ends_no_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "Name:\tpython\n")

    assert 2**4 < peak_mib() < 2**20


ADVISED = """
import re
from pathlib import Path
from dragoman.memory import keep_freed_memory
keep_freed_memory()
places = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(), flags=re.M)
advised = [place for place in places if re.search(r"^VmFlags:.* hg", place, re.M)]
print(sum(int(re.search(r"^Size: +([0-9]+) kB", place, re.M)[1]) for place in advised))
print(sum(int(re.search(r"^Rss: +([0-9]+) kB", place, re.M)[1]) for place in advised))
"""


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists()
    or platform.libc_ver()[0] != "glibc"
    or Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    or resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY,
    reason="of Linux with glibc and huge pages, without a limit of address space",
)
def test_huge_pages_are_asked_for_and_not_taken() -> None:
    command = [sys.executable, "-c", ADVISED]
    reported = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    size_kib, resident_kib = map(int, reported.split())

    assert size_kib * 2**10 >= 0.99 * HUGE_BYTES
    assert resident_kib < 2**16


def test_there_is_room_for_what_is_taken_and_no_more_than_the_machine_has() -> None:
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20

    assert peak_mib() < room_mib() <= of_machine


def test_a_group_with_a_limit_has_less_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.memory.memory_limit", lambda: math.inf)
    assert room_mib() > 256

    monkeypatch.setattr("dragoman.memory.memory_limit", lambda: 2**28)
    assert room_mib() == 256
