"""Kill, stop, starve and damage small trainings, and count how many end as if nothing had happened.

    python benchmarks/faults.py [FAULT ...] [--tries N] [--seed N]

Every try trains with one fault, runs the same command again without it, and compares the result
with that of an undisturbed run: the weights, the newest checkpoint (with optimizer and average) and
its progress (best score, patience, place in the text) bit for bit, and every event of the journal.
A try that differs, or needs more than the same command again, is lost. Without --tries, each fault
has as many as its line of FAULTS says; the faults at a step draw their steps from all those of
three runs, or of as many as it has tries. The exit code is 1 if any was lost.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import damaged_files
import full_disks
import killed_runs
import scarce_resources
from small_runs import SETTINGS, Bench

Try = Callable[[Bench, random.Random, int], bool]
"""Makes the try of this number, and returns whether it survived."""


@dataclass(frozen=True)
class Fault:
    """One way to disturb a run."""

    sentence: str
    tries: int
    """As many as the published table has."""

    make: Try
    each_step: bool = False
    """Whether the number of a try is that of a step; a run has hundreds of steps."""

    program: str = "true"
    """A program that it needs; if there is none, the fault is left out unless it is asked for."""


FAULTS = {
    "kill": Fault("`kill -9` at a random moment", 50, killed_runs.at_a_moment),
    "kill-often": Fault("`kill -9` again and again, until it ends", 4, killed_runs.again_and_again),
    "kill-step": Fault(
        "`kill -9` before each change on the disk", 100, killed_runs.at_a_step, True
    ),
    "stop": Fault("SIGTERM at a random moment: exit code 143", 20, killed_runs.stopped),
    "interrupt": Fault(
        "SIGINT before a change on the disk, and before all after it",
        50,
        killed_runs.interrupted,
        True,
    ),
    "full-step": Fault("no space at each change on the disk", 50, full_disks.at_a_step, True),
    "full-limit": Fault("files may not grow (RLIMIT_FSIZE)", 10, full_disks.limited),
    "full-disk": Fault("a small disk is full (tmpfs)", 10, full_disks.small_disk),
    "failing-disk": Fault(
        "the disk fails from a random flush on (EIO)", 20, full_disks.failing, program="strace"
    ),
    "memory": Fault(
        "no memory from a change on the disk on", 50, scarce_resources.no_memory, each_step=True
    ),
    "few": Fault(
        "64 open files and 2 GiB of address space: nothing is noticed",
        3,
        scarce_resources.few_files_and_little_memory,
        program="prlimit",
    ),
    "two-threads": Fault(
        "`kill -9` on two threads, against a run on two", 10, scarce_resources.two_threads
    ),
    "damaged": Fault("newest checkpoint damaged anywhere", 50, damaged_files.checkpoint),
    "all-damaged": Fault("every checkpoint damaged: refused", 10, damaged_files.every_checkpoint),
    "text": Fault(
        "vocabulary or validation text of a run damaged: made again", 50, damaged_files.text
    ),
    "model": Fault("weights or vocabulary damaged: refused", 50, damaged_files.model),
    "signed": Fault(
        "a model damaged, its checksums mended: refused, or it translates",
        5000,
        damaged_files.signed,
    ),
}


def main() -> int:
    """Make the tries that were asked for, and print a row for each fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("faults", nargs="*", choices=[[], *FAULTS], metavar="FAULT")
    parser.add_argument("--tries", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lost = 0
    print("| fault | tries | survived | lost | minutes |\n|---|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        names = list(SETTINGS)[: options.tries]
        benches = [Bench(Path(place) / name, name) for name in names]
        possible = [name for name, fault in FAULTS.items() if shutil.which(fault.program)]
        for name in options.faults or possible:
            lost += row(FAULTS[name], benches, options.tries, random.Random(options.seed))
    return 1 if lost else 0


def row(fault: Fault, benches: list[Bench], tries: int | None, chance: random.Random) -> int:
    """Print how the tries of one fault went, and return how many were lost."""
    began, survived = time.monotonic(), 0
    wanted = fault.tries if tries is None else tries
    cases = [(benches[i % len(benches)], i) for i in range(wanted)]
    if fault.each_step:
        steps = [(bench, step) for bench in benches for step in range(1, bench.num_steps + 1)]
        cases = chance.sample(steps, min(wanted, len(steps)))
    for bench, number in cases:
        if fault.make(bench, chance, number):
            survived += 1
        else:
            print(f"lost: {fault.sentence}, {bench.name}, {number}", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - began) / 60
    counts = f"{len(cases)} | {survived} | {len(cases) - survived}"
    print(f"| {fault.sentence} | {counts} | {minutes:.1f} |", flush=True)
    return len(cases) - survived


if __name__ == "__main__":
    sys.exit(main())
