"""Limits that a process sets for itself."""

import contextlib
import math
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

MIB = 2**20


class OutOfTime(BaseException):
    """Something ran longer than allowed."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what runs for longer.

    It cannot stop a call that does not return to Python; the other process, which waits for this
    one, can.

    Raises:
        OutOfTime: the time is up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"ran for longer than {seconds:g} seconds and was stopped")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_process(*, cpu_seconds: int, memory_mib: int, file_mib: int) -> None:
    """Limit processor time and memory used from now on, and the size of each file.

    A lower hard limit that the user has set stays.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used_seconds = math.ceil(usage.ru_utime + usage.ru_stime)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    memory = pages * resource.getpagesize() + memory_mib * MIB
    for kind, most in (
        (resource.RLIMIT_CPU, used_seconds + cpu_seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_mib * MIB),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = most + 1  # at the hard limit of time comes SIGKILL, which does not say why
        users = resource.getrlimit(kind)[1]
        if users != resource.RLIM_INFINITY:
            hard = min(hard, users)
        resource.setrlimit(kind, (min(most, hard), hard))
