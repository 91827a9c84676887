"""Run the command line as `python -m dragoman`, which is what `torchrun -m dragoman` calls."""

import sys

from dragoman.cli import main

if __name__ == "__main__":
    sys.exit(main())
