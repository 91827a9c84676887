"""The journal of a run, as curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from dragoman.errors import DragomanError, UsageError
from dragoman.visualisation.colours import SERIES

Across = Literal["updates", "minutes"]
ACROSSES: tuple[Across, ...] = get_args(Across)

MOST_POINTS = 300
"""Of a curve that is drawn; more could not be told apart."""

NOT_SCORES = ("event", "time", "update", "best", "samples")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A quantity as it changed: three arrays of equal length."""

    updates: np.ndarray
    minutes: np.ndarray
    """Minutes of training, without validations and interruptions."""

    values: np.ndarray

    def along(self, across: Across) -> np.ndarray:
        """Return where each value was reached."""
        return self.updates if across == "updates" else self.minutes


@dataclass(frozen=True, kw_only=True)
class TrainingCurves:
    """The curves of one run."""

    loss: Curve
    """Mean per target token in nats, as in training: with dropout and label smoothing."""

    learning_rate: Curve
    speed: Curve
    """Target tokens per second."""

    validation: dict[str, Curve]
    """The finite values of validations: `loss` in nats without smoothing, and scores."""


def training_curves(name: str, events: Sequence[dict[str, Any]]) -> TrainingCurves:
    """Read the events of a journal.

    Seconds follow from tokens and tokens per second, which journals of every release have; time
    between updates is not counted.

    Raises:
        DragomanError: there is no update yet.
    """
    updates = [event for event in events if event["event"] == "update"]
    if not updates:
        raise DragomanError(f"{name}: its journal holds no update yet; wait until it has begun")
    numbers = np.array([event["update"] for event in updates])
    tokens = np.diff([0, *(event["tokens"] for event in updates)])
    speeds = np.array([max(event["tokens_per_second"], 1) for event in updates])
    seconds = tokens / speeds
    minutes = seconds.cumsum() / 60
    parts = np.array_split(np.arange(len(updates)), min(MOST_POINTS, len(updates)))

    def thinned(values: np.ndarray, weights: np.ndarray) -> Curve:
        means = [float(np.average(values[part], weights=weights[part])) for part in parts]
        ends = [part[-1] for part in parts]
        return Curve(updates=numbers[ends], minutes=minutes[ends], values=np.array(means))

    return TrainingCurves(
        loss=thinned(np.array([event["loss"] for event in updates]), tokens),
        learning_rate=thinned(
            np.array([e["learning_rate"] for e in updates]), np.ones(len(updates))
        ),
        speed=thinned(speeds, seconds),
        validation=_validation_curves(events, numbers, minutes),
    )


def _validation_curves(
    events: Sequence[dict[str, Any]], numbers: np.ndarray, minutes: np.ndarray
) -> dict[str, Curve]:
    validations = [event for event in events if event["event"] == "validation"]
    names = dict.fromkeys(key for event in validations for key in event if key not in NOT_SCORES)
    curves = {}
    for name in names:
        scored = [event for event in validations if math.isfinite(event.get(name, math.nan))]
        if not scored:
            continue
        updates = np.array([event["update"] for event in scored])
        curves[name] = Curve(
            updates=updates,
            minutes=np.interp(updates, numbers, minutes),
            values=np.array([event[name] for event in scored]),
        )
    return curves


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve of one run in a panel."""

    run: int
    """Number of the run, from 0; decides the colour."""

    curve: Curve
    marked: bool
    """Whether each point was measured on its own, as in validations."""

    @property
    def has_dots(self) -> bool:
        """Whether its points are drawn: a single one would not be seen as a line."""
        return self.marked or len(self.curve.values) == 1


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What is drawn into one pair of axes."""

    title: str
    lines: tuple[Line, ...]
    from_zero: bool = False


def training_panels(runs: Sequence[TrainingCurves]) -> list[Panel]:
    """Put the same quantities of several runs together: loss, scores, learning rate, speed.

    Raises:
        UsageError: there are more runs than colours.
    """
    if len(runs) > len(SERIES):
        raise UsageError(
            f"{len(runs)} runs are too many for one picture: it has {len(SERIES)} colours to tell "
            "them apart"
        )

    def lines(curves: Sequence[Curve | None], *, marked: bool) -> tuple[Line, ...]:
        return tuple(
            Line(run=run, curve=curve, marked=marked) for run, curve in enumerate(curves) if curve
        )

    names = dict.fromkeys(name for run in runs for name in run.validation)
    validated = {
        name: lines([run.validation.get(name) for run in runs], marked=True) for name in names
    }
    loss = lines([run.loss for run in runs], marked=False) + validated.pop("loss", ())
    rates = lines([run.learning_rate for run in runs], marked=False)
    speeds = lines([run.speed for run in runs], marked=False)
    return [
        Panel(title="Loss (nats a token): training, and validation (dots)", lines=loss),
        *(Panel(title=f"{name} of validation", lines=drawn) for name, drawn in validated.items()),
        Panel(title="Learning rate", lines=rates, from_zero=True),
        Panel(title="Speed (target tokens a second)", lines=speeds, from_zero=True),
    ]
