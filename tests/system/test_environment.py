"""Where and when a command runs changes no bit of what it makes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
