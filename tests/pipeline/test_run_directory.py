"""A run writes only into a directory that is new or its own."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dragoman.config import to_table
from dragoman.pipeline.run import _prepare_text, train_model
from dragoman.pipeline.run_directory import MARK, RunError, check_alike, claim

from .conftest import Listener, MakeRecipe


def checkpoint(directory: Path) -> None:
    (directory / "checkpoints" / "update-00000002").mkdir(parents=True)


@pytest.mark.parametrize(
    "name",
    [
        "data/train.tsv",
        "model.toml",
        "model.safetensors",
        "README.md",
        "checkpoints/mine",
        "journal.jsonl",
        "recipe.toml",
    ],
)
def test_what_somebody_else_wrote_is_not_written_over(
    name: str, make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    path = tmp_path / "mine" / name
    taken = Path(name).parts[0]
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")

    with pytest.raises(RunError, match=rf"{taken} was not made by a run.*-o"):
        train_model(make_recipe(), tmp_path / "mine", display)

    assert path.read_text() == "mine\n"
    assert {p.name for p in (tmp_path / "mine").iterdir()} == {".lock", taken}


def test_other_files_are_no_obstacle(make_recipe: MakeRecipe, tmp_path: Path) -> None:
    (tmp_path / "text" / "notes.txt").write_text("mine\n")

    claim(make_recipe(), tmp_path / "text")

    assert (tmp_path / "text" / "recipe.toml").read_text().startswith(MARK)


def test_until_there_is_a_checkpoint_another_recipe_replaces_the_old_one(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    claim(make_recipe(), tmp_path)
    changed = make_recipe(training__learning_rate=0.5)

    claim(changed, tmp_path)

    assert tomllib.loads((tmp_path / "recipe.toml").read_text()) == to_table(changed)


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [
        ("training__updates", 4, "training.updates: 3 became 4"),
        ("model__dropout", 0.3, "model.dropout"),
        ("seed", 2, "seed: 1 became 2"),
    ],
)
def test_a_setting_of_weights_that_exist_is_refused(
    setting: str, value: float, complaint: str, make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    claim(make_recipe(), tmp_path)
    checkpoint(tmp_path)
    before = (tmp_path / "recipe.toml").read_text()

    with pytest.raises(RunError, match=complaint):
        claim(make_recipe(**{setting: value}), tmp_path)

    assert (tmp_path / "recipe.toml").read_text() == before


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("licence", "CC-BY-4.0"),
        ("training__device", "cuda"),
        ("training__keep_checkpoints", 5),
        ("evaluation__tokenize", "char"),
    ],
)
def test_what_does_not_touch_the_weights_may_change(
    setting: str, value: str | int, make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    claim(make_recipe(), tmp_path)
    checkpoint(tmp_path)
    changed = make_recipe(**{setting: value})

    claim(changed, tmp_path)

    assert tomllib.loads((tmp_path / "recipe.toml").read_text()) == to_table(changed)


def test_a_run_that_is_older_than_a_setting_goes_on_with_its_default(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe = make_recipe()
    claim(recipe, tmp_path)
    checkpoint(tmp_path)
    path = tmp_path / "recipe.toml"
    now = path.read_text()
    path.write_text(now.replace("r_drop = 0.0\n", ""))
    assert path.read_text() != now

    claim(recipe, tmp_path)

    assert path.read_text() == now


def test_bleu_stays_as_it_is_where_it_chooses_the_weights(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    claim(make_recipe(training__metric="BLEU"), tmp_path)
    checkpoint(tmp_path)

    with pytest.raises(RunError, match=r"evaluation\.tokenize"):
        claim(make_recipe(training__metric="BLEU", evaluation__tokenize="char"), tmp_path)


@pytest.mark.parametrize("kept", ["finished", "model.safetensors"])
def test_a_run_without_checkpoints_keeps_its_recipe_if_it_is_finished_or_has_a_model(
    make_recipe: MakeRecipe, tmp_path: Path, kept: str
) -> None:
    claim(make_recipe(), tmp_path)
    (tmp_path / kept).touch()

    with pytest.raises(RunError, match="seed: 1 became 2"):
        claim(make_recipe(seed=2), tmp_path)


def test_a_model_whose_checkpoints_are_gone_is_not_replaced_by_a_new_beginning(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    claim(make_recipe(), run)
    (run / "model.safetensors").touch()

    with pytest.raises(
        RunError, match=r"no checkpoints to go on from, .* model\.safetensors; bring"
    ):
        train_model(make_recipe(), run, display)

    assert not (run / "model.safetensors").read_bytes()
    (run / "finished").touch()  # then nothing begins anew
    claim(make_recipe(), run)


HOLDS = """
import errno, fcntl, os, signal, sys
from pathlib import Path


def no(file, operation):
    raise OSError(errno.ENOSYS, "as Lustre without -o flock")


fcntl.flock = no
from dragoman.pipeline.run_directory import RunError, only_one

for _ in range(2):
    if os.fork() == 0:
        with only_one(Path(sys.argv[1])):
            if os.fork() == 0:
                try:
                    only_one(Path(sys.argv[1])).__enter__()
                except RunError as error:
                    os.write(1, f"{error}\\n".encode())
                os._exit(0)
            os.wait()
            os.write(1, f"{os.getpid()}\\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
"""


def test_where_files_cannot_be_locked_the_lock_dies_with_its_process_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HOLDS, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    assert len(said) == 4, done.stderr
    for refused, holder in zip(said[::2], said[1::2], strict=True):
        assert f"another process ({holder}) is training there; wait or stop it" in refused


def test_only_the_first_process_claims_a_directory(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.pipeline.run.rank", lambda: 1)

    with pytest.raises(RunError, match=r"process 1 cannot .*summary\.json.*; all machines must"):
        train_model(make_recipe(), tmp_path / "run", display)

    assert not (tmp_path / "run" / "recipe.toml").exists()


def test_a_process_trains_on_the_text_of_the_first_one_or_not_at_all(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = make_recipe()
    of_first = _prepare_text(recipe, tmp_path / "run", display).summary
    monkeypatch.setattr("dragoman.pipeline.run.rank", lambda: 1)

    monkeypatch.setattr("dragoman.pipeline.run.text_of_first", lambda _: of_first.fingerprint)
    assert _prepare_text(recipe, tmp_path / "run", display).summary == of_first

    monkeypatch.setattr("dragoman.pipeline.run.text_of_first", lambda _: "of other text")
    with pytest.raises(RunError, match="process 1 finds other text than process 0; all machines"):
        _prepare_text(recipe, tmp_path / "run", display)


def test_processes_with_another_recipe_than_the_first_are_refused(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json.dumps(to_table(make_recipe(seed=2, model__d_ff=20, training__device="auto")))
    monkeypatch.setattr("dragoman.pipeline.run_directory.text_of_first", lambda ours: first)

    with pytest.raises(
        RunError, match=r"another recipe than process 0, in model\.d_ff, seed; start"
    ):
        train_model(make_recipe(), tmp_path / "run", display)
    check_alike(make_recipe(seed=2, model__d_ff=20, training__device="cpu"))

    monkeypatch.setattr("dragoman.pipeline.run_directory.agree", lambda differs: True)
    with pytest.raises(RunError, match="another process of this training has another recipe"):
        check_alike(make_recipe(seed=2, model__d_ff=20))


def test_of_many_changes_the_first_are_named_and_the_others_counted(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    claim(make_recipe(), tmp_path)
    checkpoint(tmp_path)
    training = {"updates": 9, "validate_every": 3, "warmup_updates": 2, "learning_rate": 0.5}
    changes = {f"training__{name}": value for name, value in training.items()}

    with pytest.raises(RunError, match=r"\(([^;]+; ){5}and 2 more\); undo the change"):
        claim(make_recipe(**changes, seed=2, model__dropout=0.3, model__d_ff=20), tmp_path)
