"""Start the command line: `dragoman`, `python -m dragoman`, and thus `torchrun -m dragoman`."""

import contextlib
import os
import platform
import sys
import traceback
from typing import NoReturn

from dragoman.device import keep_to_share_of_time
from dragoman.exit_codes import FAILED, INTERRUPTED

TUNABLES = "GLIBC_TUNABLES"
"""The variable from which glibc takes its settings, before a program begins."""

WITHOUT_CACHES = "glibc.malloc.tcache_count=0"
"""What glibc cuts off to align a tensor would stay in a cache of its thread, and keep what is free
on both sides of it from becoming one: a long training took 38 % less memory without
(`docs/experiments.md`, 2026-11-26)."""

TRAINING = ("train", "finetune", "distill")

HAS_BEGUN_AGAIN = "DRAGOMAN_HAS_BEGUN_AGAIN"
"""Set in a program that replaced another, which must not go on for ever where the settings of glibc
do not get through: it drops them if the interpreter has privileges of its own (`setcap`)."""


def main() -> int:
    """Run a command; a process started by `torchrun` ends with it."""
    _begin_again_without_caches()
    keep_to_share_of_time()
    if "TORCHELASTIC_RUN_ID" in os.environ:
        _run_and_leave()
    return _run()


def _begin_again_without_caches() -> None:
    """Replace this program by itself, if it is to train and glibc has no settings yet.

    The process stays the same, and nothing was loaded that takes time. What is in the variable
    already, for whatever reason, is left alone. Where it cannot begin again, it goes on.
    """
    command = next((token for token in sys.argv[1:] if token != "--debug"), None)
    is_set = not os.environ.keys().isdisjoint((TUNABLES, HAS_BEGUN_AGAIN))
    if command in TRAINING and not is_set and platform.libc_ver()[0] == "glibc" and _is_whole():
        environment = os.environ | {TUNABLES: WITHOUT_CACHES, HAS_BEGUN_AGAIN: "1"}
        with contextlib.suppress(OSError):  # `sys.executable` may be empty or gone
            os.execve(sys.executable, sys.orig_argv, environment)


def _is_whole() -> bool:
    """Tell whether the command is all that this process is for, and can be given once more.

    It is not where another program, or a notebook, has put the arguments there itself, nor where
    the program came from standard input, which is read by now.
    """
    given = sys.orig_argv[len(sys.orig_argv) - len(sys.argv) + 1 :]
    return given == sys.argv[1:] and sys.argv[0] != "-"


def _run() -> int:
    """Run a command; an interrupt while modules are loading ends it as quietly as a later one."""
    try:
        from dragoman.cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_and_leave() -> NoReturn:
    """Run a command, and exit the process without Python's usual shutdown.

    The threads of gloo outlive their process group (in PyTorch 2.13). If one of them releases a
    tensor while Python shuts down, the process aborts, or hangs forever and `torchrun` with it.
    """
    code = FAILED
    try:
        code = _run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
    finally:
        with contextlib.suppress(AttributeError, OSError):  # closed, or without a reader
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
