"""What earlier releases wrote is read by this one, and means the same."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from dragoman.cli import main
from dragoman.training.journal import read_journal

FIXTURES = Path(__file__).parents[1] / "fixtures"
RELEASES = sorted(FIXTURES.glob("release-*"))
TWENTY_UPDATES = ["--set", "training.updates=20", "--set", "training.validate_every=10"]


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_a_model_of_a_release_translates_as_it_did(
    release: Path, engine: str, tmp_path: Path
) -> None:
    output = tmp_path / "output.txt"
    source = str(release / "sentences.txt")

    code = main(
        ["translate", str(release / "model"), source, "-o", str(output), "--engine", engine]
    )

    assert code == 0
    assert output.read_bytes() == (release / "translations.txt").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_a_run_that_a_release_began_is_finished(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(release, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")

    assert main(["train", "numbers.toml", "-o", "unfinished", *TWENTY_UPDATES]) == 0

    events = read_journal(Path("unfinished/journal.jsonl"))
    assert [e["update"] for e in events if e["event"] == "resume"] == [10]
    assert [e["update"] for e in events if e["event"] == "update"] == list(range(1, 21))
    assert_weights_of_the_release("unfinished")


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)
def test_a_new_run_learns_as_that_of_a_release_did(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(release, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")

    assert main(["train", "numbers.toml", "-o", "new", *TWENTY_UPDATES]) == 0

    new, old = (
        [e["loss"] for e in read_journal(Path(run) / "journal.jsonl") if e["event"] == "update"]
        for run in ("new", "unfinished")
    )
    assert len(old) == 20
    np.testing.assert_allclose(new, old, rtol=1e-4)
    assert_weights_of_the_release("new")


def assert_weights_of_the_release(run: str) -> None:
    weights = load_file(f"{run}/model.safetensors")
    for name, tensor in load_file("finished.safetensors").items():
        if name.endswith("key_projection.bias"):
            # It adds the same to all scores of a query, which softmax does not see. So its gradient
            # is rounding alone, of which Adam makes whole steps.
            continue
        np.testing.assert_allclose(weights[name], tensor, atol=1e-4, err_msg=name)
