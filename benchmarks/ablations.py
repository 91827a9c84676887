"""Train a recipe as the paper of 2017 would, with one departure, with all, and with all but one.

    python benchmarks/ablations.py recipes/multi30k_en_de_tiny.toml --folder FOLDER [--at-once 2]

All rows see the same number of batches with each of `--seeds`, and the same batches, except those
with two vocabularies. Each training run has one thread; `--at-once` of them run side by side, so
minutes can be compared within a table if nothing else runs. What is there already is not trained
again. It prints the mean and the standard deviation over the seeds of each test set's first score,
and of the minutes from the beginning of the training to the end of its last validation.

With `--time-updates ROUNDS` no row is trained to the end. Each begins once in each round, the rows
in turns, and is stopped after some updates. It prints the median time of an update, by round, and
how many minutes all updates would take at the mean of these.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from circumstances import circumstances

from dragoman.model_directory import ModelDirectory
from dragoman.training.journal import JOURNAL, read_journal

Settings = dict[str, str | float]
"""By section and key."""

LENGTH: Settings = {"training.updates": 2000, "training.validate_every": 500}
PAPER: Settings = {
    "model.norm": "after",
    "model.positional_encoding": "interleaved",
    "training.optimizer": "adamw",
    "training.weight_decay": 0.0,
    "training.schedule": "paper",
    "training.learning_rate": 1.0,
    "training.warmup_updates": 500,
}
"""What the recipe has otherwise. The warm-up of 4,000 of 100,000 updates is also shortened."""

UNTIMED_UPDATES, TIMED_UPDATES = 50, 150
"""How many updates go by before updates are timed, and how many are timed then."""

COSINE: Settings = {"training.schedule": "cosine", "training.warmup_updates": 200}
ADAMW: Settings = {"training.optimizer": "adamw", "training.learning_rate": 3e-3}
MUON: Settings = {"training.optimizer": "muon", "training.learning_rate": 6e-3}
DECAY: Settings = {"training.weight_decay": 0.1}
TWO_VOCABULARIES: Settings = {"tokenizer.joint": "false", "model.tied_embeddings": "none"}
SILU: Settings = {"model.activation": "silu"}
NO_SMOOTHING: Settings = {"training.label_smoothing": 0.0}
RECIPE: Settings = {
    **COSINE,
    **MUON,
    **DECAY,
    "model.norm": "before",
    "model.positional_encoding": "rotary",
}
DEPARTURES: dict[str, Settings] = {
    "as in 2017": {},
    "a third of the learning rate": {"training.learning_rate": 1 / 3},
    "norm before each sublayer": {"model.norm": "before"},
    "rotary positions": {"model.positional_encoding": "rotary"},
    "cosine to zero, rate 3e-3": {**COSINE, **ADAMW},
    "the same, weight decay 0.1": {**COSINE, **ADAMW, **DECAY},
    "the same, Muon at 6e-3": {**COSINE, **MUON, **DECAY},
    "two vocabularies, no shared table": TWO_VOCABULARIES,
    "SiLU in place of ReLU": SILU,
    "no label smoothing": NO_SMOOTHING,
    "all of the recipe": RECIPE,
    "all, but norm after each sublayer": {**RECIPE, "model.norm": "after"},
    "all, but sinusoids": {**RECIPE, "model.positional_encoding": "interleaved"},
    "all, but AdamW at 3e-3": {**RECIPE, **ADAMW},
    "all, but no weight decay": {**RECIPE, "training.weight_decay": 0.0},
    "all, but the paper's schedule, of the same peak": {
        **RECIPE,
        "training.schedule": "paper",
        "training.learning_rate": 1.5,
        "training.warmup_updates": 500,
    },
    "all, and two vocabularies, no shared table": {**RECIPE, **TWO_VOCABULARIES},
    "all, and SiLU in place of ReLU": {**RECIPE, **SILU},
    "all, and no label smoothing": {**RECIPE, **NO_SMOOTHING},
}
"""Rows of the table. The folders of runs have their places in it, so new rows stand at the end."""


class Outcome(NamedTuple):
    """The outcome of a training run."""

    minutes: float
    scores: tuple[float, ...]
    """For each test set, by the first metric."""


def begin(recipe: Path, run: Path, settings: Settings) -> "subprocess.Popen[bytes]":
    """Begin to train with one thread; what it says goes to a file beside the run."""
    command = [sys.executable, "-m", "dragoman", "train", str(recipe), "-o", str(run)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    with (run.parent / f"{run.name}.log").open("w") as log:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def train(recipe: Path, run: Path, settings: Settings) -> Outcome:
    """Train, unless that was done before, and read the outcome."""
    if not (run / "finished").exists() and begin(recipe, run, settings).wait() != 0:
        raise SystemExit(f"{run}: the training failed; {run}.log says why")
    events = read_journal(run / JOURNAL)
    if any(event["event"] == "resume" for event in events):
        raise SystemExit(f"{run}: it was interrupted, so its minutes are not those of training")
    last = max(event["time"] for event in events if event["event"] == "validation")
    of_tests = ModelDirectory(run).description.training["scores"].values()
    scores = tuple(next(iter(metrics.values()))["score"] for metrics in of_tests)
    return Outcome((last - events[0]["time"]) / 60, scores)


def time_update(recipe: Path, settings: Settings) -> float:
    """Begin to train, and return the median of the seconds that an update takes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        training = begin(recipe, run, settings)
        times: list[float] = []
        try:
            while len(times) <= UNTIMED_UPDATES + TIMED_UPDATES:
                if training.poll() is not None:
                    raise SystemExit((run.parent / "run.log").read_text(encoding="utf-8"))
                time.sleep(1)
                events = read_journal(run / JOURNAL) if (run / JOURNAL).exists() else []
                times = [event["time"] for event in events if event["event"] == "update"]
        finally:
            training.terminate()
            training.wait()
    timed = pairwise(times[UNTIMED_UPDATES : UNTIMED_UPDATES + TIMED_UPDATES + 1])
    return statistics.median(after - before for before, after in timed)


def time_updates(recipe: Path, rows: Sequence[str], rounds: int) -> None:
    """Time the updates of all rows in turns, and print a table."""
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name in rows:
            settings = {**LENGTH, **PAPER, **DEPARTURES[name], "seed": 1}
            seconds[name].append(time_update(recipe, settings))
    machine = circumstances()
    print(f"{machine['device']}, one thread, commit {machine['commit']}\n")
    for name, of_row in seconds.items():
        of_rounds = ", ".join(f"{1000 * each:.0f}" for each in of_row)
        minutes = float(LENGTH["training.updates"]) * statistics.mean(of_row) / 60
        print(f"| {name} | {of_rounds} ms | {minutes:.1f} |")


def show(values: Sequence[float], digits: int) -> str:
    """Write the mean, and the standard deviation if there is one."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def main() -> None:
    """Train all, some of them at once, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", nargs="+", choices=list(DEPARTURES), default=list(DEPARTURES))
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--time-updates", type=int, metavar="ROUNDS")
    options = parser.parse_args()
    if options.time_updates:
        time_updates(options.recipe, options.rows, options.time_updates)
        return
    if options.folder is None:
        parser.error("--folder says where the runs are to be")
    options.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.at_once) as pool:
        runs = {
            name: [
                pool.submit(
                    train,
                    options.recipe,
                    options.folder / f"{list(DEPARTURES).index(name):02}-{seed}",
                    {**LENGTH, **PAPER, **DEPARTURES[name], "seed": seed},
                )
                for seed in options.seeds
            ]
            for name in options.rows
        }
        found = {name: [run.result() for run in of_row] for name, of_row in runs.items()}
    machine = circumstances()
    print(f"{machine['device']}, {len(options.seeds)} seeds, commit {machine['commit']}\n")
    for name, outcomes in found.items():
        of_tests = zip(*(outcome.scores for outcome in outcomes), strict=True)
        minutes = show([outcome.minutes for outcome in outcomes], 1)
        print(f"| {name} | {' | '.join(show(scores, 2) for scores in of_tests)} | {minutes} |")


if __name__ == "__main__":
    main()
