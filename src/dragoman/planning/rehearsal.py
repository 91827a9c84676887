"""A rehearsal: the first minute of a training run, in its own process, to see what it takes."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from dragoman.config import to_table
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.prepared_text import TRAIN_STORE
from dragoman.corpora.store_description import StoreDescription, read_description
from dragoman.counting import counted
from dragoman.errors import OUT_OF_MEMORY
from dragoman.planning.text import PlanError
from dragoman.training.journal import JOURNAL, read_journal

SHORT = {"max_length_ratio": 1.0, "max_length_extra": 10}
"""Limits of the search that roughly match the longest translations of a batch."""

MOST_TIMES = 2
"""A rehearsal is given up after so many times the time of its training. It translates as often, and
makes at most twice as many updates as the shortest one: no plan fits into such a time."""

LONGEST_WAIT = 24 * 24 * 60.0
"""Minutes. Linux counts how long to wait for a process in milliseconds, 2^31 of them at most."""


@dataclass(frozen=True)
class Rehearsal:
    """What a training run takes, measured."""

    seconds_before: float
    """From the start of the process to the first update: imports, cleaning, vocabulary."""

    seconds_per_update: float
    tokens_per_second: float
    seconds_per_validation: float
    """Of one that also translates."""

    seconds_per_checkpoint: float
    """Of writing it, and the model beside it."""

    peak_mib: float
    stored_bytes_per_pair: float
    """Of prepared text, which training maps into its memory."""


class RehearsalMemoryError(PlanError):
    """The rehearsal ran out of memory, or the training would; that of a smaller model may not."""


def rehearse(
    table: dict[str, Any],
    sample: Sequence[CorpusConfig],
    directory: Path,
    *,
    updates: int,
    minutes: float,
) -> Rehearsal:
    """Train a recipe for a few updates on a sample of its text.

    It also translates the validation text. A model that has learnt nothing keeps writing up to the
    limit, so the limit is lowered to what translations need when training is half done, which is
    when it first translates.

    Raises:
        RehearsalMemoryError: the training runs out of memory.
        PlanError: it takes much longer than the training may, or fails for another reason; then the
            message is that of the training.
    """
    directory = Path(tempfile.mkdtemp(dir=directory))
    table = {
        **table,
        "corpora": {"train": [to_table(part) for part in sample]},
        "search": {**table.get("search", {}), **SHORT},
        "training": {
            **table["training"],
            "updates": updates,
            "validate_every": (updates + 1) // 2,  # twice, so that checkpoints are averaged
            "search_every": 1,
            "warmup_updates": 1,
        },
    }
    recipe, run = directory / "rehearsal.toml", directory / "run"
    recipe.write_text(tomli_w.dumps(table), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "dragoman", "train", str(recipe), "-o", str(run)]
    began = time.time()
    try:
        done = subprocess.run(
            command,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            check=False,
            timeout=60 * min(MOST_TIMES * minutes, LONGEST_WAIT),
        )
    except subprocess.TimeoutExpired:
        raise PlanError(
            f"a rehearsal of {counted(updates, 'update')} alone takes {MOST_TIMES} times as long "
            "as the training may; give more --minutes"
        ) from None
    if done.returncode != 0:
        complaint = _complaint(done.stderr.decode(errors="replace"), done.returncode)
        too_large = done.returncode < 0 or OUT_OF_MEMORY in complaint
        kind = RehearsalMemoryError if too_large else PlanError
        raise kind(f"the rehearsal of the training failed: {complaint}")
    store = read_description(run / "data" / TRAIN_STORE)
    return _read(read_journal(run / JOURNAL), began, store)


def _complaint(said: str, code: int) -> str:
    if code < 0:
        return f"killed by signal {-code}, probably for lack of memory"
    return said.strip().rpartition("\n")[2].removeprefix("dragoman: ")


def _read(journal: list[dict[str, Any]], began: float, store: StoreDescription) -> Rehearsal:
    """Read times and memory from the journal; what comes before the first validation is warm-up."""
    started = next(event["time"] for event in journal if event["event"] == "start")
    first, last = (event for event in journal if event["event"] == "validation")
    *_, end = (event for event in journal if event["event"] == "checkpoint")
    updates = [event for event in journal if event["event"] == "update"]
    warm = [event for event in updates if event["update"] > first["update"]]
    tokens = warm[-1]["tokens"] - warm[0]["tokens"]
    seconds = warm[-1]["time"] - warm[0]["time"]
    per_update = seconds / (len(warm) - 1)
    return Rehearsal(
        seconds_before=started - began,
        seconds_per_update=per_update,
        tokens_per_second=tokens / seconds,
        seconds_per_validation=last["time"] - warm[-1]["time"],
        seconds_per_checkpoint=max(0.0, warm[0]["time"] - first["time"] - per_update),
        peak_mib=end["peak_mib"],
        stored_bytes_per_pair=store.num_bytes / store.pairs,
    )
