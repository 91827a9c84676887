"""Run the command line as a user does, on real files."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from dragoman import cli


class Said(NamedTuple):
    """What a command has written."""

    stdout: str
    stderr: str


Run = Callable[..., Said]

REVERSE_RECIPE = """
source_language = "forward"
target_language = "backward"

[corpora]
train = [{ path = "train.tsv" }]
validation = [{ path = "validation.tsv" }]
test = [{ path = "test.tsv" }]

[cleaning]
drop_identical = false

[tokenizer]
kind = "words"
min_frequency = 1

[batching]
tokens_per_update = 1024
max_length = 32

[model]
d_model = 64
d_ff = 128
num_heads = 4
num_encoder_layers = 2
num_decoder_layers = 2
dropout = 0.0

[training]
updates = 400
learning_rate = 4e-3
schedule = "cosine"
warmup_updates = 100
label_smoothing = 0.0
validate_every = 200
"""


def write_workspace(directory: Path) -> None:
    """Write a recipe and text: sequences of letters, and the same backwards."""
    letters = random.Random(8)
    lines: dict[str, str] = {}
    while len(lines) < 6400:
        sequence = [letters.choice("abcdefghij") for _ in range(letters.randint(2, 8))]
        lines[" ".join(sequence)] = " ".join(reversed(sequence))
    pairs = [f"{source}\t{target}\n" for source, target in lines.items()]
    (directory / "train.tsv").write_text("".join(pairs[:6000]))
    (directory / "validation.tsv").write_text("".join(pairs[6000:6100]))
    (directory / "test.tsv").write_text("".join(pairs[6100:]))
    (directory / "reverse.toml").write_text(REVERSE_RECIPE)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Make a directory with a recipe and text."""
    write_workspace(tmp_path)
    return tmp_path


@pytest.fixture
def dragoman(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command in the workspace, in this process: to load PyTorch once more takes seconds."""
    monkeypatch.chdir(workspace)

    def run(*arguments: str, code: int = 0) -> Said:
        capsys.readouterr()
        returned = cli.main(arguments)
        said = Said(*capsys.readouterr())
        assert returned == code, said.stderr
        return said

    return run


HOLD = """
import os
import time
from pathlib import Path
from dragoman.training.loop import Trainer

original = Trainer._one_update
hold, held = (Path(__file__).with_name(name) for name in ("hold", "held"))

def update(self, *arguments):
    while self.progress.update == int(os.environ["HELD_AFTER"]) and hold.exists():
        held.touch()
        time.sleep(0.01)
    original(self, *arguments)

Trainer._one_update = update
"""


class Hold:
    """Has a training stand still in the middle, however late a test comes to look at it.

    Args:
        directory: Where it is kept; it is made.
        after: The update after which the next one does not begin to compute.
    """

    def __init__(self, directory: Path, after: int) -> None:
        directory.mkdir()
        (directory / "sitecustomize.py").write_text(HOLD)
        (directory / "hold").touch()
        self._directory, self._after = directory, after

    def environment(self) -> dict[str, str]:
        """Give the environment of a process that is held."""
        usual = environment()
        path = os.pathsep.join([str(self._directory), usual["PYTHONPATH"]])
        return {**usual, "PYTHONPATH": path, "HELD_AFTER": str(self._after)}

    def holds(self) -> bool:
        """Tell whether a process has come there."""
        return (self._directory / "held").exists()

    def end(self) -> None:
        """Let all processes go on."""
        (self._directory / "hold").unlink(missing_ok=True)


HoldAfter = Callable[[int], Hold]


@pytest.fixture
def hold_after(workspace: Path) -> Iterator[HoldAfter]:
    """Give a function that has a training held after an update, until the test is over."""
    holds: list[Hold] = []

    def begin(update: int) -> Hold:
        holds.append(Hold(workspace / f"hold-{update}", after=update))
        return holds[-1]

    yield begin
    for hold in holds:
        hold.end()


def environment() -> dict[str, str]:
    """Run what is imported here, on one thread: the last bits of a sum depend on their number."""
    source = str(Path(cli.__file__).parents[2])
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": source,
        "PYTHONWARNINGS": "error",
    }
