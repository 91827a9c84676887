"""Where commands write text: standard output, or a file that is not an input; and warnings."""

import contextlib
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from dragoman.durable import check_written, naming, open_whole

_OF_MODEL = (
    *("model.*", "*.model", "tokenizer*", "shortlist.*", "ctranslate2/*"),
    *("recipe.toml", "journal.jsonl"),
)
"""The files of a model, or of a run that can be resumed; text may lie beside them."""


def check_outputs(written: Sequence[Path], *, models: Sequence[Path], read: Sequence[Path]) -> None:
    """Make sure that no output overwrites a model, an input or another output.

    Raises:
        UsageError: two names refer to one file, perhaps through a link.
    """
    of_models = [path for model in models for pattern in _OF_MODEL for path in model.glob(pattern)]
    check_written(written, read=[*read, *of_models])


def warn(said: str) -> None:
    """Say on standard error what whoever reads the output should know."""
    print(f"warning: {said}", file=sys.stderr)


def warn_of(doubts: Iterable[str]) -> None:
    """Warn of each, as it is found."""
    for doubt in doubts:
        warn(doubt)


def print_json(table: Mapping[str, Any]) -> None:
    """Print one JSON object, for programs; dates are strings in it, `inf` and `nan` are null."""
    print_utf8(json.dumps(_without_infinity(table), ensure_ascii=False, default=str))


def print_utf8(text: str) -> None:
    """Print what programs read, in UTF-8 as it is in files, whatever the locale.

    What UTF-8 cannot hold, such as a file name of other bytes, is written with escapes of JSON.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    print(text)


def _without_infinity(value: Any) -> Any:
    """Write null for `inf`, such as a limit that is switched off, and for `nan`."""
    if isinstance(value, Mapping):
        return {key: _without_infinity(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_without_infinity, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextlib.contextmanager
def open_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that gets its name only when it is complete."""
    if path is None:
        with naming("standard output"):
            yield sys.stdout.buffer
    else:
        with open_whole(path) as stream:
            yield stream
