"""What the control groups of Linux leave to this process, as in a container or a service."""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

OWN = Path("/proc/self/cgroup")
"""A line for each group of this process: the number of a hierarchy, 0 if it is of version 2, what
it controls, and the path of the group."""

MOUNTED = Path("/sys/fs/cgroup")
"""Where groups are; those of version 1 are below the name of what they control."""


def share_of_time(own: Path = OWN, mounted: Path = MOUNTED) -> float:
    """Return the time of how many processors a process has, or infinity without a limit."""
    found = math.inf
    for file in _files("cpu", ("cpu.max", "cpu.cfs_quota_us"), own, mounted):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):  # no limit, or "max"
            quota, *period = map(int, file.read_text("ascii").split())
            if not period:  # in version 1, where no limit is -1
                period = [int(file.with_name("cpu.cfs_period_us").read_text("ascii"))]
            if quota > 0:
                found = min(found, quota / period[0])
    return found


def memory_limit(own: Path = OWN, mounted: Path = MOUNTED) -> float:
    """Return how many bytes of memory a process may have, or infinity without a limit."""
    found = math.inf
    for file in _files("memory", ("memory.max", "memory.limit_in_bytes"), own, mounted):
        with contextlib.suppress(OSError, ValueError):
            found = min(found, int(file.read_text("ascii")))
    return found


def _files(controller: str, names: tuple[str, str], own: Path, mounted: Path) -> Iterator[Path]:
    """List the files of the groups of a process and of those around them, as seen from within.

    A container sees its own group as the root, in version 1 whatever path it is told.

    Args:
        controller: What the groups limit.
        names: Of the file of a group of version 2, and of version 1.
        own: Names the groups.
        mounted: Where they are.
    """
    told = os.fsdecode(own.read_bytes()) if own.exists() else ""
    for line in told.splitlines():
        number, controlled, path = line.split(":", maxsplit=2)
        if number == "0":
            root, name = mounted, names[0]
        elif controller in controlled.split(","):
            root, name = mounted / controller, names[1]
        else:
            continue
        group = root / path.lstrip("/")
        yield from (each / name for each in (group, *group.parents) if each.is_relative_to(root))
