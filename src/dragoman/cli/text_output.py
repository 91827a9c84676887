"""Where commands write text: standard output, or a file that is nothing they read."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from dragoman.durable import check_apart, naming, open_whole

_OF_MODEL = (
    *("model.*", "*.model", "tokenizer*", "shortlist.*", "ctranslate2/*"),
    *("recipe.toml", "journal.jsonl"),
)
"""What makes a directory a model, or a run that can go on; text may lie beside it."""


def check_outputs(written: Sequence[Path], *, model: Path, read: Sequence[Path]) -> None:
    """Make sure that nothing is written over the model or over what is read, or written twice.

    Raises:
        UsageError: two names are of one file, perhaps through a link.
    """
    of_model = [path for pattern in _OF_MODEL for path in model.glob(pattern)]
    check_apart(written, read=[*read, *of_model])


@contextlib.contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that takes its name only when it is complete."""
    if path is None:
        with naming("standard output"):
            yield sys.stdout.buffer
    else:
        with open_whole(path) as stream:
            yield stream
