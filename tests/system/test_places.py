"""Where a run may stand, and what is said where it cannot."""

import errno
import itertools
import os
import shutil
from pathlib import Path

import pytest

from dragoman.cli import main

RELEASE = Path(__file__).parents[1] / "fixtures" / "release-0.1.0"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder whose own name is difficult, with text and a recipe of such names."""
    place = tmp_path / "größe und мера"
    place.mkdir()
    text = (RELEASE / "numbers.toml").read_text().replace("train.tsv", "pères et fils.tsv")
    (place / "ricetta è.toml").write_text(text, encoding="utf-8")
    shutil.copy(RELEASE / "train.tsv", place / "pères et fils.tsv")
    lines = (RELEASE / "validation.tsv").read_text().splitlines(keepends=True)
    (place / "validation.tsv").write_text("".join(lines[:4]))
    monkeypatch.chdir(place)
    return place


def train(output: str) -> int:
    changes = ("training.updates=2", "search.beam_size=1", "search.max_length_extra=3")
    settings = [word for change in changes for word in ("--set", change)]
    return main(["train", "ricetta è.toml", "-o", output, *settings])


def test_a_run_goes_where_a_link_with_a_difficult_name_leads(folder: Path) -> None:
    (folder / "altro disco").mkdir()
    (folder / "свой 模型").symlink_to("altro disco", target_is_directory=True)

    assert train("свой 模型") == 0
    (folder / "altro disco" / "finished").unlink()
    assert train("свой 模型") == 0  # a checkpoint is found there, too
    output = "le mie frasi.txt"
    code = main(["translate", "свой 模型", str(RELEASE / "sentences.txt"), "-o", output])

    assert code == 0
    assert (folder / "свой 模型").is_symlink()
    assert (folder / "altro disco" / "model.safetensors").is_file()
    sentences = (RELEASE / "sentences.txt").read_text().count("\n")
    assert Path(output).read_text().count("\n") == sentences


@pytest.mark.parametrize("output", ["file/run", "/sys/dragoman", "ricetta è.toml", "nowhere"])
def test_a_place_that_cannot_hold_a_run_is_named(
    folder: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").touch()
    (folder / "nowhere").symlink_to("nowhere")

    assert train(output) == 1

    said = capsys.readouterr().err
    assert said.startswith(f"dragoman: {output}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("flushed", [0, 20])
def test_a_disk_that_fails_is_named_and_the_run_goes_on_when_it_is_mended(
    flushed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flushes, fsync = itertools.count(), os.fsync

    def fail(descriptor: int) -> None:
        if next(flushes) >= flushed:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        assert train("run") == 1
    said = capsys.readouterr().err.splitlines()[-1]

    assert said.startswith("dragoman: run")
    assert "Input/output error" in said
    assert "repair the disk, and run the same command again" in said
    assert train("run") == 0
