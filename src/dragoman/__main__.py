"""Begin the command line: `dragoman`, `python -m dragoman`, and so `torchrun -m dragoman`."""

import contextlib
import os
import sys
import traceback
from typing import NoReturn

from dragoman.exit_codes import FAILED, INTERRUPTED


def main() -> int:
    """Run a command; what `torchrun` has started ends with it."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        _run_and_leave()
    return _run()


def _run() -> int:
    """Run a command; an interrupt while modules are loaded ends it as quietly as a later one."""
    try:
        from dragoman.cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_and_leave() -> NoReturn:
    """Run a command, and end the process without what Python does at its end.

    The threads of gloo outlive their group (in PyTorch 2.13). One that lets go of a tensor while
    Python ends aborts the process, or keeps it, and `torchrun` with it, for ever.
    """
    code = FAILED
    try:
        code = _run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
    finally:
        with contextlib.suppress(AttributeError, OSError):  # closed, or nobody reads it
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
