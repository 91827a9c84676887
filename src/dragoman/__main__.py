"""Start the command line: `dragoman`, `python -m dragoman`, and thus `torchrun -m dragoman`."""

import contextlib
import os
import platform
import sys
import traceback
from typing import NoReturn

from dragoman.exit_codes import FAILED, INTERRUPTED

TUNABLES = "GLIBC_TUNABLES"
"""The variable from which glibc takes its settings, before a program begins."""

WITHOUT_CACHES = "glibc.malloc.tcache_count=0"
"""What glibc cuts off to align a tensor would stay in a cache of its thread, and keep what is free
on both sides of it from becoming one: a long training takes up to a third less memory without."""

TRAINING = ("train", "finetune", "distill")


def main() -> int:
    """Run a command; a process started by `torchrun` ends with it."""
    _begin_again_without_caches()
    if "TORCHELASTIC_RUN_ID" in os.environ:
        _run_and_leave()
    return _run()


def _begin_again_without_caches() -> None:
    """Replace this program by itself, if it is to train and glibc has no settings yet.

    The process stays the same, and nothing was loaded that takes time. What is in the variable
    already, for whatever reason, is left alone.
    """
    is_training = sys.argv[1:2] and sys.argv[1] in TRAINING
    if is_training and TUNABLES not in os.environ and platform.libc_ver()[0] == "glibc":
        environment = os.environ | {TUNABLES: WITHOUT_CACHES}
        os.execve(sys.executable, sys.orig_argv, environment)


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
