"""Training runs of a second or two, as a user runs them, or in a fork that something happens to."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

import dragoman
import dragoman.cli
from dragoman.training import checkpoint
from dragoman.training.journal import Journal, read_journal

SETTINGS = {
    "adamw, early stop, mean of checkpoints": (
        "training.learning_rate=0.05",
        "training.patience=2",
        "training.updates=18",
        "training.average_checkpoints=2",
    ),
    "muon, moving average": ("training.optimizer=muon", "training.ema_decay=0.9"),
    "BLEU decides, subwords": (
        "training.metric=BLEU",
        "tokenizer.kind=unigram",
        "tokenizer.sampling=0.3",
        "batching.max_length=64",
    ),
}
"""Changes to the recipe, by name."""

RECIPE = """
source_language = "en"
target_language = "it"
corpora = { train = [{ path = "train.tsv" }], validation = [{ path = "validation.tsv" }], \
test = [{ path = "test.tsv" }] }
tokenizer = { kind = "words", min_frequency = 1 }
batching = { tokens_per_update = 64, max_tokens_per_micro_batch = 128, max_length = 16 }
model = { d_model = 16, d_ff = 24, num_heads = 2, num_encoder_layers = 1, num_decoder_layers = 1, \
dropout = 0.2 }
training = { updates = 12, validate_every = 3, warmup_updates = 2, device = "cpu" }
search = { max_length_extra = 3 }
evaluation = { bootstrap_samples = 0 }
"""
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
ITALIAN = ["zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]

LASTING = ("update", "validation", "checkpoint", "finish")
"""Events that do not depend on when a run was stopped."""
MEASURED = ("time", "tokens_per_second", "seconds", "journal_size", "peak_mib")
"""Values that differ in every run."""

ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(Path(dragoman.__file__ or "").parents[1]),
}
"""One thread, and the program that is imported here."""

Act = Callable[[], None]


class Bench:
    """A folder with a recipe, its text, and an undisturbed run."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir()
        self.folder, self.name = folder, name
        self.command = ["train", "recipe.toml"]
        for setting in SETTINGS[name]:
            self.command += ["--set", setting]
        (folder / "recipe.toml").write_text(RECIPE)
        for split, first, last in (
            ("train", 100, 180),
            ("validation", 200, 208),
            ("test", 300, 303),
        ):
            lines = [f"{_say(n, ENGLISH)}\t{_say(n, ITALIAN)}\n" for n in range(first, last)]
            (folder / f"{split}.tsv").write_text("".join(lines))

    @cached_property
    def straight(self) -> Path:
        """The undisturbed run; it is made in this process, so that forks have all imports."""
        run = self.folder / "straight"
        torch.set_num_threads(1)
        with (
            contextlib.chdir(self.folder),
            run.with_suffix(".err").open("w") as errors,
            contextlib.redirect_stderr(errors),
        ):
            assert dragoman.cli.main([*self.command, "-o", str(run)]) == 0
        return run

    @cached_property
    def num_steps(self) -> int:
        """How many times a run is about to change something on the disk."""
        run = self.straight.with_name("counted")
        return self.fork(run, Steps(run)).steps

    def start(self, run: Path, *under: str) -> subprocess.Popen[bytes]:
        """Start to train, or continue, in a process of its own; `RUN.err` has its messages.

        Args:
            run: The directory of the run.
            under: Precedes the command, as `nice` does.
        """
        with run.with_suffix(".err").open("wb") as errors:
            return subprocess.Popen(
                [*under, sys.executable, "-m", "dragoman", *self.command, "-o", str(run)],
                cwd=self.folder,
                env=ENVIRONMENT,
                stderr=errors,
            )

    def fork(self, run: Path, steps: "Steps | None" = None, prepare: Act | None = None) -> "Ended":
        """Train in a copy of this process, which has imported everything already."""
        return forked([*self.command, "-o", str(run)], self.folder, run, steps, prepare)

    def ends_as_ever(self, run: Path) -> bool:
        """Run the command once more, and compare the end with that of the undisturbed run.

        Training always ends the same, so the end alone would not tell a run that continues from one
        that starts over: a run that is not finished has to continue after its newest checkpoint.
        """
        begins = None if (run / "finished").exists() else newest_update(run)
        if self.fork(run).code != 0:
            return False
        ended, ever = end_of(run), end_of(self.straight)
        ever["progress"] = {key: ever["progress"][key] for key in ended["progress"]}
        return begins in (None, begun_at(run)) and ended == ever


@dataclass(frozen=True)
class Ended:
    """How a forked command ended."""

    code: int
    errors: str
    steps: int

    @property
    def is_one_sentence(self) -> bool:
        """Whether it failed as a command should."""
        last = self.errors.strip().split("\n")[-1]
        return self.code == 1 and last.startswith("dragoman: ") and "Traceback" not in self.errors


class Steps:
    """Counts the steps at which something in a folder is about to change, and acts at one."""

    def __init__(self, folder: Path, act: Act = lambda: None, *, at: int = 0) -> None:
        self.folder, self.act, self.at = str(folder), act, at
        self.count = 0

    def watch(self) -> None:
        """Begin to count, in this process and until it ends."""
        sys.addaudithook(self._audit)
        for owner, name in (
            (os, "fsync"),
            (Journal, "write"),
            (checkpoint, "save_file"),
            (safetensors.torch, "save_file"),
        ):
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, _ = arguments
            writes = isinstance(path, str) and mode is not None and mode.strip("rbt") != ""
            changes = writes and self._concerns(path)
        else:  # shutil.rmtree names files relative to a folder that it has opened
            names = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")
            changes = event in names and (self._concerns(arguments[0]) or arguments[-1] >= 0)
        if changes:
            self._step()

    def _concerns(self, path: str) -> bool:
        return self.folder in (str(path), *map(str, Path(path).parents))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self._step()
            return function(*arguments, **options)

        return call

    def _step(self) -> None:
        self.count += 1
        if self.at and self.count >= self.at:
            self.act()


def forked(
    command: list[str],
    folder: Path,
    log: Path,
    steps: Steps | None = None,
    prepare: Act | None = None,
) -> Ended:
    """Run a command in a copy of this process; its messages are in `LOG.err`."""
    errors, counted = log.with_suffix(".err"), log.with_suffix(".steps")
    counted.unlink(missing_ok=True)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            torch.set_num_threads(1)
            os.chdir(folder)
            os.dup2(os.open(errors, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
            os.dup2(2, 1)
            if prepare:
                prepare()
            if steps:
                steps.watch()
            code = dragoman.cli.main(command)
            counted.write_text(str(steps.count if steps else 0))
        except SystemExit as ended:  # of an interrupt
            code = int(ended.code or 0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    number = int(counted.read_text()) if counted.exists() else 0
    return Ended(code, errors.read_text(), number)


def newest_update(run: Path) -> int:
    """Find the update of the newest checkpoint that has the name of a complete one; 0 if none."""
    folders = (run / "checkpoints").glob("update-*[0-9]")
    return max((int(path.name.removeprefix("update-")) for path in folders), default=0)


def begun_at(run: Path) -> int:
    """Find the update after which a run was last started or continued."""
    events = read_journal(run / "journal.jsonl")
    return [int(event["update"]) for event in events if event["event"] in ("start", "resume")][-1]


def end_of(run: Path) -> dict[str, Any]:
    """Describe how a run ended, without what depends on the clock."""
    newest = run / "checkpoints" / f"update-{newest_update(run):08d}"
    files = [run / "model.safetensors", *sorted(newest.glob("*.safetensors"))]
    progress = json.loads((newest / "state.json").read_bytes())["progress"]
    if progress["validated_update"] < progress["update"]:
        # It was stopped between its last update and the validation after it. That checkpoint stays
        # as it is, and the journal, which is compared, has the validation.
        progress = {key: progress[key] for key in ("update", "position", "tokens")}
    events = [e for e in read_journal(run / "journal.jsonl") if e["event"] in LASTING]
    return {
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        "progress": {key: value for key, value in progress.items() if key not in MEASURED},
        "events": [{k: v for k, v in e.items() if k not in MEASURED} for e in events],
        "left": sorted(path.name for path in (run / "checkpoints").iterdir() if path.suffix),
    }


def _say(number: int, digits: list[str]) -> str:
    return " ".join(digits[int(digit)] for digit in str(number))
