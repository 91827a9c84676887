"""Runs that get little memory, few files or another number of threads."""

import copy
import random
import resource
import shutil
import time
from pathlib import Path

from small_runs import Bench, Steps, end_of

FEW_FILES, LITTLE_MEMORY = 64, 2 * 2**30
TWO_THREADS = ("env", "OMP_NUM_THREADS=2")
WIDE = ("--set", "model.d_model=256", "--set", "model.d_ff=1024")
"""Makes matrix products large enough to be shared by threads."""


def no_memory(bench: Bench, chance: random.Random, number: int) -> bool:
    """Allow no more memory from the n-th change on the disk on, until the run has ended.

    The run should say so in a sentence, but a library may also end the process where it has no
    memory to say so.
    """
    run = bench.folder / f"no-memory-{number}"
    block = 2 ** chance.randint(12, 20)
    hoard: list[bytearray] = []

    def take_all() -> None:
        if not hoard:
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (_virtual_memory(), hard))
            hoard.append(bytearray())
            try:
                while True:
                    hoard.append(bytearray(block))
            except MemoryError:
                pass

    ended = bench.fork(run, Steps(run, take_all, at=number))
    in_words = ended.code <= 0 or ended.is_one_sentence
    survived = in_words and bench.ends_as_ever(run)
    shutil.rmtree(run)
    return survived


def few_files_and_little_memory(bench: Bench, chance: random.Random, number: int) -> bool:
    """Train with limits like those of shared machines; nothing should notice."""
    run = bench.folder / f"limited-process-{number}"
    limits = ("prlimit", f"--nofile={FEW_FILES}", f"--as={LITTLE_MEMORY}")
    return bench.start(run, *limits).wait() == 0 and end_of(run) == end_of(bench.straight)


def two_threads(bench: Bench, chance: random.Random, number: int) -> bool:
    """Kill a run on two threads, and compare it with an undisturbed one on two threads."""
    wide = copy.copy(bench)
    wide.command = [*bench.command, *WIDE]
    straight = bench.folder / "two-threads"
    if not straight.exists():
        began = time.monotonic()
        wide.start(straight, *TWO_THREADS).wait()
        straight.with_suffix(".seconds").write_text(str(time.monotonic() - began))
    run = bench.folder / f"two-threads-{number}"
    process = wide.start(run, *TWO_THREADS)
    seconds = float(straight.with_suffix(".seconds").read_text())
    time.sleep(chance.uniform(seconds / 2, seconds))  # about half of it passes before it learns
    process.kill()
    process.wait()
    return wide.start(run, *TWO_THREADS).wait() == 0 and end_of(run) == end_of(straight)


def _virtual_memory() -> int:
    """Measure the address space of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
