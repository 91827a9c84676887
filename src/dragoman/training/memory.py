"""Memory of a training on a CPU, kept from one update to the next."""

import ctypes
import platform

# Of `mallopt` in glibc's malloc.h.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
ROOM_BYTES = 2**28
"""By which the process grows when it has too little memory."""


def keep_freed_memory() -> None:
    """Let this process keep what it frees, for what it allocates next.

    Each update needs the same memory for its activations. glibc returns large pieces to the system
    as soon as they are free, and fetches them again page by page: on a CPU with bf16 that is a
    seventh of the time of an update. Other allocators than glibc's are left as they are.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    for name, value in ((M_TRIM_THRESHOLD, -1), (M_TOP_PAD, ROOM_BYTES), (M_MMAP_MAX, 0)):
        libc.mallopt(name, value)
