"""Memory that a process keeps, on a CPU, for what it computes next."""

import ctypes
import mmap
import platform
import resource
import threading
from functools import cache
from pathlib import Path

# Of glibc's malloc.h, for `mallopt`.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
MADV_HUGEPAGE = 14  # of Linux's mman.h

ROOM_BYTES = 2**28
"""By which the process grows when it has too little memory."""

HUGE_BYTES = 2**32
"""Of its first memory, which is in huge pages as soon as it is used, and takes none before."""


def keep_freed_memory() -> None:
    """Let this process keep what it frees, for what it allocates next, and in huge pages.

    Each update of a training needs the same memory for its activations, and each step of a search
    for its logits. glibc returns large pieces to the system as soon as they are free, and fetches
    them again page by page: on a CPU with bf16 that is a seventh of the time of an update. To look
    up where pages of 4 KiB are takes another twentieth, and a tenth of a step.

    The main thread keeps all that it frees. Other threads have arenas of their own, in ordinary
    pages, and give pieces above 64 MiB back. Other allocators than glibc's are left as they are.
    """
    if not _is_of_glibc():
        return
    libc = ctypes.CDLL(None)
    for name, value in ((M_TRIM_THRESHOLD, -1), (M_TOP_PAD, ROOM_BYTES), (M_MMAP_MAX, 0)):
        libc.mallopt(name, value)
    if threading.current_thread() is threading.main_thread():
        _advise_huge_pages()


def peak_mib() -> float:
    """Tell how much memory this process has taken at most, in MiB.

    On Linux the kernel is asked elsewhere, as `getrusage` counts that of the process from which
    this one was started, too.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status")
    if not status.exists():
        return usage / 2**20  # bytes, on macOS
    for line in status.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 2**10
    return usage / 2**10  # kibibytes, on a Linux that does not tell it


def _is_of_glibc() -> bool:
    """Tell whether memory comes from glibc, and not from a library that was loaded before it."""
    if platform.libc_ver()[0] != "glibc":
        return False
    allocators = (ctypes.CDLL(None).malloc, ctypes.CDLL("libc.so.6").malloc)
    return len({ctypes.cast(each, ctypes.c_void_p).value for each in allocators}) == 1


@cache
def _advise_huge_pages() -> None:
    """Take a large piece of address space, ask for huge pages there, and free it for others."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if (start := libc.malloc(HUGE_BYTES)) is None:  # a limit was set, or nothing may be promised
        return
    page = mmap.PAGESIZE
    aligned = -(-start // page) * page
    libc.madvise(aligned, HUGE_BYTES - page, MADV_HUGEPAGE)
    libc.free(start)
