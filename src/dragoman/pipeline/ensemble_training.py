"""Models of one recipe and several seeds, trained at the same time and put together."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import tomli_w

from dragoman.config import to_table
from dragoman.corpora.clean_text import Say
from dragoman.errors import UsageError
from dragoman.interop.staging import OutputError
from dragoman.model_directory import MOST_MEMBERS, ModelDirectory, ModelError
from dragoman.pipeline.ensemble import make_ensemble
from dragoman.pipeline.publication import keep_scores, score_tests
from dragoman.pipeline.run_directory import RunError
from dragoman.recipe import LARGEST_SEED, Recipe

STOPPING = "stopping and saving; Ctrl-C once more ends at once and loses what is not saved"


def directory_of_seed(output: Path, seed: int) -> Path:
    """Name the run of one seed, which stands beside the ensemble."""
    return output.with_name(f"{output.name}-seed-{seed}")


def seeds_of(recipe: Recipe, count: int) -> list[int]:
    """Count the seeds of an ensemble from that of the recipe on.

    Raises:
        UsageError: there are too few, too many, or too large ones.
    """
    if not 2 <= count <= MOST_MEMBERS:  # noqa: PLR2004
        raise UsageError(f"an ensemble of {count}: write a number from 2 to {MOST_MEMBERS}")
    if recipe.seed + count - 1 > LARGEST_SEED:
        raise UsageError(f"seed = {recipe.seed} leaves no seeds above it for an ensemble")
    return list(range(recipe.seed, recipe.seed + count))


def is_finished(recipe: Recipe, output: Path, seeds: Sequence[int]) -> bool:
    """Tell whether the ensemble of these seeds is there, with its scores on the test sets.

    Raises:
        OutputError: something else stands there, which nothing is trained to replace.
    """
    if not _is_made(output, seeds):
        return False
    scores = ModelDirectory(output).description.training["scores"]
    return len(scores) == len(recipe.corpora.test)


def _is_made(output: Path, seeds: Sequence[int]) -> bool:
    """Tell whether the models have been put together."""
    if not output.name:
        raise OutputError(f"{output}: runs are written beside the ensemble; name one inside it")
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    members = [directory_of_seed(output, seed) for seed in seeds]
    with suppress(ModelError, KeyError, TypeError):
        models = ModelDirectory(output).description.training["models"]
        made_of = [model["weights_sha256"] for model in models]
        if made_of == [ModelDirectory(path).description.weights_sha256 for path in members]:
            return True
    raise OutputError(
        f"{output}: it exists already, and is not made of {' and '.join(map(str, members))}; "
        "move it away or name another output"
    )


def train_ensemble(
    recipe: Recipe, output: Path, seeds: Sequence[int], devices: Sequence[str], say: Say
) -> int | None:
    """Train a model of each seed, one on each device at a time, and put them into one directory.

    Each is a run of its own, in a process of its own, beside the output. Whatever ends some of
    them, another call goes on where each was.

    Args:
        recipe: Of all of them, but for seed and device.
        output: The ensemble to write.
        seeds: At least two.
        devices: Those of `shares.share_machine`.
        say: Is told what each training says.

    Returns:
        The signal that stopped them; None when the ensemble is there.

    Raises:
        RunError: a training did not come to its end. The others did.
        CombinationError: they were trained on text that changed in between.
        OutputError: the output cannot be written.
    """
    free: SimpleQueue[str] = SimpleQueue()
    for device in devices:
        free.put(device)
    recipes = [replace(recipe, seed=seed) for seed in seeds]
    trainings = _Trainings(output, free, say)
    with trainings.stopped_by_signals() as received, ThreadPoolExecutor(len(devices)) as pool:
        codes = list(pool.map(trainings.train, recipes))
    if received:
        return received[0]
    if failed := [seed for seed, code in zip(seeds, codes, strict=True) if code != 0]:
        raise RunError(
            f"{output}: not written, as the training of seed {' and '.join(map(str, failed))} "
            "did not come to its end; run the same command again to go on"
        )
    if not _is_made(output, seeds):
        make_ensemble([directory_of_seed(output, seed) for seed in seeds], output)
    keep_scores(output, score_tests(recipe, output, lambda text: say(f"together: {text}")))
    return None


@dataclass
class _Trainings:
    """Trainings that run at the same time, and end together when this process is told to."""

    output: Path
    free: "SimpleQueue[str]"
    """The devices on which nothing is trained."""

    say: Say
    _running: "list[subprocess.Popen[str]]" = field(default_factory=list)
    _received: list[int] = field(default_factory=list)

    @contextmanager
    def stopped_by_signals(self) -> Iterator[Sequence[int]]:
        """Collect signals, of which each training hears; SIGHUP only where it is not ignored."""
        caught = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            caught.append(signal.SIGHUP)
        previous = {number: signal.signal(number, self._stop) for number in caught}
        try:
            yield self._received
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: Any) -> None:
        """Have all of them save and end; the second Ctrl-C ends them at once."""
        at_once = number == signal.SIGINT and number in self._received
        self._received.append(number)
        if not at_once:
            self.say(STOPPING)
        for process in self._running:
            process.send_signal(signal.SIGKILL if at_once else signal.SIGTERM)

    def train(self, recipe: Recipe) -> int:
        """Train a recipe on a free device, and return the exit code."""
        device = self.free.get()
        try:
            return self._train(replace(recipe, training=replace(recipe.training, device=device)))
        finally:
            self.free.put(device)

    def _train(self, recipe: Recipe) -> int:
        """Hand a recipe to a process of its own, and on what that says."""
        directory = directory_of_seed(self.output, recipe.seed)
        command = [sys.executable, "-P", "-m", "dragoman", "train", "/dev/stdin"]
        # Of Ctrl-C, which reaches all processes of a terminal, this one tells the others.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if self._received:
            return -self._received[0]
        with subprocess.Popen(
            [*command, "-o", str(directory)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process:
            self._running.append(process)
            if self._received:  # since it was last looked at
                process.terminate()
            assert process.stdin is not None
            assert process.stderr is not None
            with suppress(BrokenPipeError):  # it has ended, and says why
                process.stdin.write(tomli_w.dumps(to_table(recipe)))
                process.stdin.close()
            for line in process.stderr:
                self.say(f"seed {recipe.seed}: {line.rstrip()}" if line.strip() else "")
        return process.returncode
