"""Begin the command line: `dragoman`, `python -m dragoman`, and so `torchrun -m dragoman`."""

import sys

INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C has ended."""


def main() -> int:
    """Run a command; an interrupt while modules are loaded ends it as quietly as a later one."""
    try:
        from dragoman.cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
