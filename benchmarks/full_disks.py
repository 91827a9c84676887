"""Runs whose disk is full, or fails, for a while."""

import errno
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from small_runs import ENVIRONMENT, Bench, Ended, Steps


def at_a_step(bench: Bench, chance: random.Random, number: int) -> bool:
    """Leave no space from the n-th change on the disk on, until the run has ended."""

    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run = bench.folder / f"full-at-{number}"
    ended = bench.fork(run, Steps(run, refuse, at=number))
    survived = _failed_well(ended, run) and bench.ends_as_ever(run)
    shutil.rmtree(run, ignore_errors=True)
    return survived


def limited(bench: Bench, chance: random.Random, number: int) -> bool:
    """Let no file become larger than a random size."""
    run = bench.folder / f"limited-{number}"
    largest = max(path.stat().st_size for path in bench.straight.rglob("*") if path.is_file())
    size = chance.randrange(largest)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return _failed_well(bench.fork(run, prepare=limit), run) and bench.ends_as_ever(run)


def small_disk(bench: Bench, chance: random.Random, number: int) -> bool:
    """Train on a disk that is too small, make it larger, and train on."""
    run = bench.folder / f"disk-{number}"
    (bench.folder / "disk").mkdir(exist_ok=True)
    kilobytes = chance.randrange(16, 400)
    train = shlex.join([sys.executable, "-m", "dragoman", *bench.command, "-o", "disk/run"])
    script = f"""
        mount -t tmpfs -o size={kilobytes}k small disk
        {train}; first=$?
        mount -o remount,size=64m disk
        {train}; second=$?
        cp -r disk/run {run.name}
        echo $first $second
    """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=bench.folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = map(int, done.stdout.split())
    in_words = "Traceback" not in done.stderr and (first == 0 or "dragoman: " in done.stderr)
    return first in (0, 1) and second == 0 and in_words and bench.ends_as_ever(run)


def failing(bench: Bench, chance: random.Random, number: int) -> bool:
    """Let the disk fail from the n-th flush on (EIO), until the run has ended."""
    run = bench.folder / f"failing-{number}"
    first = chance.randint(1, _num_flushes(bench))
    code = _traced(bench, run, "-e", f"inject=fsync:error=EIO:when={first}+")
    ended = Ended(code, run.with_suffix(".err").read_text(), 0)
    return _failed_well(ended, run) and bench.ends_as_ever(run)


def _num_flushes(bench: Bench) -> int:
    """Count how often a run flushes something to the disk."""
    run = bench.straight.with_name("flushed")
    if not run.exists():
        _traced(bench, run)
    return run.with_suffix(".trace").read_text().count("fsync(")


def _traced(bench: Bench, run: Path, *options: str) -> int:
    """Train with all flushes in `RUN.trace`, and return the exit code."""
    trace = ["-o", str(run.with_suffix(".trace")), "-e", "trace=fsync", "--seccomp-bpf"]
    return bench.start(run, "strace", "-f", *trace, *options).wait()


def _failed_well(ended: Ended, run: Path) -> bool:
    """Tell whether a run ended with a sentence that says where, or had nothing left to lose."""
    if ended.code == 0:  # only the report is missing, and there is a warning
        return True
    return ended.is_one_sentence and str(run) in ended.errors
