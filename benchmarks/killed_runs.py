"""Runs that are killed or told to stop."""

import itertools
import os
import random
import shutil
import signal
import time
from pathlib import Path

from small_runs import Bench, Steps

STOPPED = 128 + signal.SIGTERM
"""What a shell reports for a process ended by SIGTERM, and what a run that saved returns."""

INTERRUPTED = 128 + signal.SIGINT


def at_a_moment(bench: Bench, chance: random.Random, number: int) -> bool:
    """Kill a run at a random moment, all equally likely, once it has its folder."""
    run = bench.folder / f"killed-{number}"
    _signal(bench, run, signal.SIGKILL, chance.uniform(0, _seconds(bench)))
    return bench.ends_as_ever(run)


def again_and_again(bench: Bench, chance: random.Random, number: int) -> bool:
    """Kill a run again and again, each time a little further on; later it gets more time."""
    run = bench.folder / f"killed-often-{number}"
    for attempt in itertools.count(1):
        seconds = chance.uniform(0, attempt * _seconds(bench) / 8)
        if _signal(bench, run, signal.SIGKILL, seconds) == 0:
            return bench.ends_as_ever(run)
    return False


def at_a_step(bench: Bench, chance: random.Random, number: int) -> bool:
    """Kill a run before it changes something on the disk for the n-th time."""
    run = bench.folder / f"killed-at-{number}"
    steps = Steps(run, lambda: os.kill(os.getpid(), signal.SIGKILL), at=number)
    survived = bench.fork(run, steps).code == -signal.SIGKILL and bench.ends_as_ever(run)
    shutil.rmtree(run)
    return survived


def interrupted(bench: Bench, chance: random.Random, number: int) -> bool:
    """Interrupt a run before its n-th change on the disk, and again before each later one."""
    run = bench.folder / f"interrupted-{number}"
    steps = Steps(run, lambda: os.kill(os.getpid(), signal.SIGINT), at=number)
    survived = bench.fork(run, steps).code in (0, INTERRUPTED) and bench.ends_as_ever(run)
    shutil.rmtree(run)
    return survived


def stopped(bench: Bench, chance: random.Random, number: int) -> bool:
    """Tell a run to stop; it saves, or has nothing to save yet."""
    run = bench.folder / f"stopped-{number}"
    code = _signal(bench, run, signal.SIGTERM, chance.uniform(0, _seconds(bench)))
    return code in (0, STOPPED) and bench.ends_as_ever(run)


def _seconds(bench: Bench) -> float:
    """Measure how long a run takes, from the moment it has its folder."""
    run = bench.straight.with_name("timed")
    if not run.exists():
        process = bench.start(run)
        _wait_for(run)
        began = time.monotonic()
        process.wait()
        run.with_suffix(".seconds").write_text(str(time.monotonic() - began))
    return float(run.with_suffix(".seconds").read_text())


def _signal(bench: Bench, run: Path, number: int, seconds: float) -> int | None:
    """Start a run and send it a signal some seconds after it has its folder; None if killed."""
    process = bench.start(run)
    _wait_for(run)
    time.sleep(seconds)
    process.send_signal(number)
    code = process.wait()
    if code == -signal.SIGKILL:
        return None
    return 128 - code if code < 0 else code


def _wait_for(run: Path) -> None:
    while not (run / ".lock").exists():
        time.sleep(0.01)
