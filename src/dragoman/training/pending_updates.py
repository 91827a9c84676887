"""Updates that have begun and are not yet reported: a GPU computes one while Python goes on."""

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from dragoman.corpora.batching import Update
from dragoman.errors import DragomanError
from dragoman.training.step import UpdateReport


class TrainingError(DragomanError):
    """Training cannot go on."""


@dataclass(frozen=True)
class Begun:
    """An update, and what the journal will say of it."""

    number: int
    batch: Update
    learning_rate: float
    tokens: int
    """Of all updates up to this one."""

    report: UpdateReport


@dataclass(frozen=True)
class Ended:
    """The outcome of an update."""

    begun: Begun
    loss: float
    gradient_norm: float
    seconds: float
    """From its beginning, or from the end of the one before it if that came later."""


def updates_ahead(device: torch.device) -> int:
    """Say how many updates may be under way when the next one begins.

    A GPU computes one while Python makes the next batch; a CPU has other things to do then.
    """
    return 1 if device.type == "cuda" else 0


class PendingUpdates:
    """The updates that are being computed, the oldest first."""

    def __init__(self) -> None:
        self._begun: deque[Begun] = deque()
        self._clock = 0.0

    def start_clock(self) -> None:
        """Note that an update begins now, which nothing delays if none is under way."""
        if not self._begun:
            self._clock = time.perf_counter()

    def add(self, begun: Begun) -> None:
        """Add an update."""
        self._begun.append(begun)

    def ended(self, *, but: int = 0) -> Iterator[Ended]:
        """Wait until all updates but the last few have ended, and yield each.

        Raises:
            TrainingError: the loss or gradient of one is not finite.
        """
        while len(self._begun) > but:
            begun = self._begun.popleft()
            loss, norm = begun.report.read()
            if not (math.isfinite(loss) and math.isfinite(norm)):
                raise TrainingError(_blame(begun, f"loss {loss}, gradient norm {norm}"))
            now = time.perf_counter()
            seconds, self._clock = now - self._clock, now
            yield Ended(begun, loss, norm, seconds)


def _blame(begun: Begun, numbers: str) -> str:
    """Say which batch made the numbers overflow."""
    batch, pairs = begun.batch, begun.batch.pairs
    shown = ", ".join(map(str, pairs[:8])) + (", ..." if len(pairs) > 8 else "")  # noqa: PLR2004
    return (
        f"update {begun.number} (epoch {batch.position.epoch}, update {batch.position.update} of "
        f"it, {len(pairs)} pairs of the token store: {shown}) gave {numbers}; no checkpoint "
        "has it; train in another directory (-o) with a lower training.learning_rate "
        "or more training.warmup_updates"
    )
