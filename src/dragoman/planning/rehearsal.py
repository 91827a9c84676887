"""A rehearsal: the first minute of a training, in a process of its own, to see what it takes."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from dragoman.planning.text import PlanError
from dragoman.training.journal import read_journal

SHORT_SEARCH = {"max_length_ratio": 1.2, "max_length_extra": 2}
"""Untrained models write on to the limit; trained ones end about here."""


@dataclass(frozen=True)
class Rehearsal:
    """What a training takes, measured."""

    seconds_before: float
    """From the start of the process to the first update: imports, cleaning, vocabulary."""

    seconds_per_update: float
    tokens_per_second: float
    seconds_per_validation: float
    """Of one that also translates."""

    peak_mib: float


def rehearse(table: dict[str, Any], sample: Path, directory: Path, *, updates: int) -> Rehearsal:
    """Train a recipe for a few updates on a sample of its text.

    Raises:
        PlanError: the training fails; the message is its own.
    """
    table = {
        **table,
        "corpora": {"train": [{"path": str(sample)}]},
        "search": SHORT_SEARCH,
        "training": {
            **table["training"],
            "updates": updates,
            "validate_every": updates,
            "search_every": 1,
            "warmup_updates": 1,
        },
    }
    recipe = directory / "rehearsal.toml"
    recipe.write_text(tomli_w.dumps(table), encoding="utf-8")
    run = directory / "rehearsal"
    command = [sys.executable, "-m", "dragoman", "train", str(recipe), "-o", str(run)]
    began = time.time()
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise PlanError(f"the rehearsal of the training failed: {said.strip().splitlines()[-1]}")
    kibibytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return _read(read_journal(run / "journal.jsonl"), began, kibibytes / 1024)


def _read(journal: list[dict[str, Any]], began: float, peak_mib: float) -> Rehearsal:
    """Take the times out of the journal; the first half of the updates is warming up."""
    started = next(event["time"] for event in journal if event["event"] == "start")
    updates = [event for event in journal if event["event"] == "update"]
    validation = next(event["time"] for event in journal if event["event"] == "validation")
    warm = updates[len(updates) // 2 - 1 :]
    tokens = warm[-1]["tokens"] - warm[0]["tokens"]
    seconds = warm[-1]["time"] - warm[0]["time"]
    return Rehearsal(
        seconds_before=started - began,
        seconds_per_update=seconds / (len(warm) - 1),
        tokens_per_second=tokens / seconds,
        seconds_per_validation=validation - updates[-1]["time"],
        peak_mib=peak_mib,
    )
