"""Memory of a process: what it keeps for its next computations, takes, and may take."""

import ctypes
import mmap
import os
import platform
import resource
import threading
from functools import cache
from pathlib import Path

from dragoman.control_groups import memory_limit

# From glibc's malloc.h, for `mallopt`.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
MADV_HUGEPAGE = 14  # from Linux's mman.h

ROOM_BYTES = 2**28
"""By how much the process grows when it needs more memory."""

HUGE_BYTES = 2**32
"""Size of its first region, which takes huge pages as soon as it is used, and no memory before."""


def keep_freed_memory() -> None:
    """Let this process keep freed memory for its next allocations, in huge pages.

    Each update of training needs the same memory for its activations, and each step of a search for
    its logits. glibc returns large blocks to the system as soon as they are free, and gets them
    back page by page: on a CPU with bf16 that is a seventh of the time of an update. Looking up the
    addresses of 4 KiB pages takes another twentieth, and a tenth of a search step.

    The main thread keeps all that it frees. Other threads have arenas of their own, in ordinary
    pages, and return blocks above 64 MiB. Allocators other than glibc's are left as they are.
    """
    if not _is_of_glibc():
        return
    libc = ctypes.CDLL(None)
    for name, value in ((M_TRIM_THRESHOLD, -1), (M_TOP_PAD, ROOM_BYTES), (M_MMAP_MAX, 0)):
        libc.mallopt(name, value)
    if threading.current_thread() is threading.main_thread():
        _advise_huge_pages()


def peak_mib() -> float:
    """Return the peak memory of this process, in MiB.

    On Linux it is read from `/proc`, as `getrusage` also counts the peak of the process that this
    one was started from.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status")
    if not status.exists():
        return usage / 2**20  # bytes, on macOS
    for line in status.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 2**10
    return usage / 2**10  # kibibytes, on a Linux without that line


def room_mib() -> float:
    """Return how much memory this process may have at most, in MiB.

    That is what the machine has, or less in a container or a control group of Linux with a limit.
    """
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(of_machine, memory_limit()) / 2**20


def _is_of_glibc() -> bool:
    """Tell whether glibc allocates memory, and not a library that was loaded before it."""
    if platform.libc_ver()[0] != "glibc":
        return False
    allocators = (ctypes.CDLL(None).malloc, ctypes.CDLL("libc.so.6").malloc)
    return len({ctypes.cast(each, ctypes.c_void_p).value for each in allocators}) == 1


@cache
def _advise_huge_pages() -> None:
    """Allocate a large region of address space, ask for huge pages there, and free it for reuse."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if (start := libc.malloc(HUGE_BYTES)) is None:  # a limit is set, or overcommit is off
        return
    page = mmap.PAGESIZE
    aligned = -(-start // page) * page
    libc.madvise(aligned, HUGE_BYTES - page, MADV_HUGEPAGE)
    libc.free(start)
