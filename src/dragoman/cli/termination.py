"""What a command does when it is told to end."""

import signal
import sys
import threading

from dragoman.exit_codes import STOPPED


def end_by_exit() -> None:
    """Let termination signals clean up what was begun, as an interrupt does.

    Python hands signals to the main thread; a program that calls from another decides by itself.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # not so under `nohup`
            signal.signal(number, lambda number, frame: sys.exit(STOPPED + number))
