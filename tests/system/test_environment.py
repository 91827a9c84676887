"""Where and when a command runs changes no bit of what it makes."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.__main__ import TUNABLES, WITHOUT_CACHES
from dragoman.cli import main

from .conftest import environment

RELEASE = Path(__file__).parents[1] / "fixtures" / "release-0.1.0"
SETTINGS = (
    "training.updates=4",
    "training.validate_every=2",
    "tokenizer.sampling=0.1",
    "search.beam_size=1",
    "search.max_length_extra=3",
)
PROGRAM = """
import json, sys
from dragoman.cli import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0
"""
STRANGE = {
    "LC_ALL": "POSIX",
    "PYTHONUTF8": "0",
    "TZ": "Pacific/Kiritimati",
    "PYTHONHASHSEED": "7",
}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write text that is not ASCII, which those numbers are."""
    monkeypatch.chdir(tmp_path)
    for name in ("numbers.toml", "train.tsv", "validation.tsv", "sentences.txt"):
        text = (RELEASE / name).read_text(encoding="utf-8")
        Path(name).write_text(text if name.endswith("toml") else text.replace("e", "è"), "utf-8")


def test_no_language_time_zone_hash_seed_or_mode_changes_what_is_made() -> None:
    usual, strange = Path("usual"), Path("strange")

    for words in commands(usual):
        assert main(words) == 0
    subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands(strange))],
        env={**environment(), **STRANGE},
        umask=0o077,
        check=True,
    )

    assert len(made_by(usual)) == 15
    assert made_by(strange) == made_by(usual)


def commands(run: Path) -> tuple[list[str], list[str]]:
    """Train, and translate with what was trained."""
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    train = ["train", "numbers.toml", "-o", str(run), *settings]
    translate = ["translate", str(run), "sentences.txt", "-o", str(run / "output.txt")]
    return train, [*translate, "--engine", "pytorch", "--precision", "fp32"]


def made_by(run: Path) -> dict[str, bytes]:
    """Read all that has no time in it."""
    made = [run / "output.txt", run / "model.safetensors", *(run / "data").rglob("*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in made if path.is_file()}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize("arguments", [["train"], ["--debug", "train"]])
@pytest.mark.parametrize(("given", "expected"), [(None, WITHOUT_CACHES), ("", "")])
def test_a_training_keeps_no_caches_of_threads_unless_something_else_is_said(
    given: str | None, expected: str, arguments: list[str]
) -> None:
    """Seen from outside: the process that was started waits for its recipe, out of a pipe."""
    os.mkfifo("recipe.toml")
    settings = {} if given is None else {TUNABLES: given}
    command = [sys.executable, "-m", "dragoman", *arguments, "recipe.toml"]
    with subprocess.Popen(
        command, env={**environment(), **settings}, stderr=subprocess.PIPE, text=True
    ) as process:
        with Path("recipe.toml").open("w", encoding="utf-8") as recipe:  # it has opened it, too
            variables = Path(f"/proc/{process.pid}/environ").read_bytes().decode().split("\0")
            recipe.write("nonsense")
        _, told = process.communicate(timeout=60)

    assert [v for v in variables if v.startswith(TUNABLES)] == [f"{TUNABLES}={expected}"]
    assert "recipe.toml: not a TOML file" in told


@pytest.mark.parametrize(
    "customisation",
    ["import os; os.environ.pop('GLIBC_TUNABLES', None)", "import sys; sys.executable = ''"],
    ids=["the setting does not get through", "the interpreter is not known"],
)
def test_a_training_goes_on_where_it_cannot_begin_again(customisation: str) -> None:
    Path("sitecustomize.py").write_text(customisation, "utf-8")
    Path("recipe.toml").write_text("nonsense", "utf-8")
    usual = environment()
    path = os.pathsep.join([str(Path.cwd()), usual["PYTHONPATH"]])

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "train", "recipe.toml"],
        env={**usual, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr.startswith("dragoman: recipe.toml: not a TOML file"), done.stderr


def test_a_command_has_as_many_threads_as_its_container_has_the_time_of() -> None:
    Path("sitecustomize.py").write_text(
        "import atexit, os, dragoman.device\n"
        "dragoman.device.share_of_time = lambda: 0.5\n"
        "dragoman.device._num_seen = lambda: 64\n"
        "atexit.register(lambda: print(os.environ.get('OMP_NUM_THREADS')))\n",
        "utf-8",
    )
    usual = environment()
    del usual["OMP_NUM_THREADS"]
    path = os.pathsep.join([str(Path.cwd()), usual["PYTHONPATH"]])

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "--version"],
        env={**usual, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.split("\n")[-2:] == ["1", ""]


OTHER_PROGRAM = """
import sys
from dragoman.__main__ import main
print("begun", flush=True)
sys.argv[1:] = ["train", "recipe.toml"]
sys.exit(main())
"""


@pytest.mark.parametrize("arguments", [["program.py"], ["-", "train", "recipe.toml"]])
def test_another_program_that_trains_is_not_begun_again(arguments: list[str]) -> None:
    """What it did before would be done twice; and out of a pipe it could not be read again."""
    Path("program.py").write_text(OTHER_PROGRAM, "utf-8")
    Path("recipe.toml").write_text("nonsense", "utf-8")

    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(),
        input=OTHER_PROGRAM,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout == "begun\n"
    assert done.stderr.startswith("dragoman: recipe.toml: not a TOML file"), done.stderr
