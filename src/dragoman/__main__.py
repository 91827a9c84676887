"""Begin the command line: `dragoman`, `python -m dragoman`, and so `torchrun -m dragoman`."""

import os
import sys

INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C has ended."""


def main() -> int:
    """Run a command; an interrupt while modules are loaded ends it as quietly as a later one."""
    try:
        from dragoman.cli import main as run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if "TORCHELASTIC_RUN_ID" in os.environ:
        # The threads of gloo outlive its group (in PyTorch 2.13). One that lets go of a tensor
        # while Python ends aborts the process, or keeps it, and torchrun, for ever.
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
