"""Which threads the processors run first."""

import contextlib
import os
import sys
import threading

NICENESS = 3
"""How much nicer the translating threads are than the others. With 10 instead of 3, refusals are no
quicker, and eight clients get a fifth less translated."""


def give_way() -> None:
    """Let this thread, and those that it starts, run after the others where they have to share.

    A client waits for a millisecond of the network thread, and a batch, which takes most of a
    second, hardly misses it. Only Linux has thread priorities, and a service may be kept from
    setting them (`SystemCallFilter=~@resources:EPERM` of systemd; without EPERM, to try is the end
    of the process); then all are equal.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        usual = os.getpriority(os.PRIO_PROCESS, thread)  # not 0 if the server was started with nice
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, usual + NICENESS)
