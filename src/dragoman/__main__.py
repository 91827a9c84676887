"""Start the command line: `dragoman`, `python -m dragoman`, and thus `torchrun -m dragoman`."""

import contextlib
import os
import sys
import traceback
from typing import NoReturn

from dragoman.exit_codes import FAILED, INTERRUPTED


def main() -> int:
    """Run a command; a process started by `torchrun` ends with it."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        _run_and_leave()
    return _run()


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
