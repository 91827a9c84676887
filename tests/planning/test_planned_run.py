"""A recipe without sizes gets planned ones, and the same ones when its run goes on."""

import errno
import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from dragoman.cli import main
from dragoman.config import to_table
from dragoman.corpora.primer.corpus import generate
from dragoman.errors import UsageError
from dragoman.model_directory import WEIGHTS_NAME
from dragoman.model_directory.description import FINISHED_FILE
from dragoman.pipeline.run_directory import MARK, RECIPE_FILE, RunError, claim, only_one
from dragoman.planning import plan
from dragoman.planning.planned_run import PLAN_FILE, plan_run, sizes_of
from dragoman.planning.rehearsal import Rehearsal
from dragoman.planning.shares import Shares
from dragoman.recipe import Recipe

from .test_plan import REHEARSAL

ONE_OF_TWO = {"TORCHELASTIC_RUN_ID": "none", "RANK": "0", "WORLD_SIZE": "2"}
"""What torchrun tells the first of two processes."""


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "pairs.tsv"
    lines = [f"{pair.source}\t{pair.target}\n" for pair in generate(700, seed=3)]
    path.write_text("".join(lines[-400:]), encoding="utf-8")
    return {
        "source_language": "en",
        "target_language": "it",
        "seed": 7,
        "corpora": {"train": [{"path": str(path)}]},
        "training": {"device": "cpu"},
        "search": {"length_penalty": 0.3},
    }


@pytest.fixture
def rehearsals(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Collect what is rehearsed, and say at once how it went."""
    rehearsed: list[dict[str, Any]] = []

    def rehearse(table: dict[str, Any], *_: object, updates: int, minutes: float) -> Rehearsal:
        rehearsed.append(table)
        return REHEARSAL

    monkeypatch.setattr(plan, "rehearse", rehearse)
    return rehearsed


def planned(given: dict[str, Any], run: Path, minutes: float | None = None) -> Recipe:
    return plan_run(given, run, minutes, lambda message: None)


def test_a_plan_for_one_model_is_not_that_of_several(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    planned(given, tmp_path / "run", 3.0)
    planned(given, tmp_path / "run", 3.0)
    num_rehearsals = len(rehearsals)

    plan_run(given, tmp_path / "run", 3.0, lambda message: None, Shares(("cpu", "cpu", "cpu"), 1.5))

    assert len(rehearsals) > num_rehearsals


def test_what_a_recipe_says_stays_and_the_rest_is_planned(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    recipe = planned(given, tmp_path / "run")

    assert (recipe.seed, recipe.training.device) == (7, "cpu")
    assert recipe.search.length_penalty == 0.3
    assert recipe.model.positional_encoding == "rotary"
    assert recipe.training.optimizer == "muon"
    assert recipe.tokenizer.vocab_size == rehearsals[0]["tokenizer"]["vocab_size"]
    assert rehearsals[0]["training"]["device"] == "cpu"


def test_a_run_goes_on_as_it_was_planned(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    first = planned(given, run, 60)

    assert planned(given, run) == first
    assert len(rehearsals) == 1
    given["seed"] = 8  # nothing is trained yet, so another recipe may come
    assert planned(given, run).seed == 8
    assert len(rehearsals) == 2
    text = Path(given["corpora"]["train"][0]["path"])  # or another text
    text.write_text(text.read_text() + "Another cat sleeps.\tUn altro gatto dorme.\n")
    planned(given, run)
    assert len(rehearsals) == 3
    (run / RECIPE_FILE).write_text(MARK)
    (run / FINISHED_FILE).touch()
    del given["seed"]  # refused by whoever compares it with the recipe of the run
    assert planned(given, run).seed == 1
    with pytest.raises(UsageError, match=r"--minutes 20: the run in .* was planned for 60; leave"):
        planned(given, run, 20)
    assert len(rehearsals) == 3


def test_a_run_that_was_ended_before_it_trained_keeps_the_time_that_was_asked_for(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    first = planned(given, tmp_path / "run", 3)

    assert planned(given, tmp_path / "run") == first
    assert planned(given, tmp_path / "run", 3) == first
    assert len(rehearsals) == 1
    planned({**given, "seed": 8}, tmp_path / "run")  # another recipe, which nobody gave more time
    assert len(rehearsals) == 2
    assert json.loads((tmp_path / "run" / PLAN_FILE).read_text())["for_minutes"] == 3
    planned(given, tmp_path / "run", 60)
    assert len(rehearsals) == 3


@pytest.mark.parametrize(
    ("full", "expected"),
    [
        ("/elsewhere/sample-0.tsv", pytest.raises(OSError, match=r"left .*elsewhere/sample-0.tsv")),
        (None, pytest.raises(RunError, match=r"run: cannot be written: No space left on device;")),
        ("run/plan.json", pytest.raises(RunError, match=r"run: cannot be written: No space")),
    ],
)
def test_a_full_disk_is_that_of_the_run_where_the_error_names_no_other(
    full: str | None,
    expected: AbstractContextManager[object],
    given: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = full and str(tmp_path / full)  # the run has a relative name

    def rehearse(*_: object, updates: int, minutes: float) -> Rehearsal:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), named)

    monkeypatch.chdir(tmp_path)

    monkeypatch.setattr(plan, "rehearse", rehearse)

    with expected:
        planned(given, Path("run"))


def test_what_is_chosen_already_is_named_where_nothing_is_planned(
    given: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "my.toml"
    given["corpora"] = {"train": [{"path": str(tmp_path / "missing.tsv")}]}
    recipe.write_text(tomli_w.dumps({**given, "tokenizer": {"vocab_size": 500}}))
    command = ["train", str(recipe), "-o", str(tmp_path / "run"), "--set", "training.updates=9"]

    assert main(command) == 1

    said = " ".join(capsys.readouterr().err.split())
    assert "nothing is planned, because these are given: tokenizer, training.updates; " in said


def test_nothing_is_planned_beside_a_training(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()

    with only_one(tmp_path / "run"), pytest.raises(RunError, match="another process"):
        planned(given, tmp_path / "run")

    assert rehearsals == []


def test_several_processes_take_a_plan_that_was_made_before(
    given: dict[str, Any],
    rehearsals: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = planned(given, tmp_path / "run")
    for name, value in ONE_OF_TWO.items():
        monkeypatch.setenv(name, value)

    with only_one(tmp_path / "run"):  # as one of them may have just locked it
        assert planned(given, tmp_path / "run") == alone
        with pytest.raises(UsageError, match="several processes cannot plan them"):
            planned(given, tmp_path / "run", 20)

    assert len(rehearsals) == 1


def test_a_run_whose_plan_is_lost_goes_on_with_the_sizes_of_its_recipe(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    given.pop("search")  # a plan chooses the length penalty, too
    first = planned(given, run)
    (run / RECIPE_FILE).write_text(MARK + tomli_w.dumps(to_table(first)))
    (run / FINISHED_FILE).touch()
    (run / "plan.json").unlink()

    assert planned(given, run) == first


def test_another_recipe_for_a_model_without_checkpoints_is_refused_before_the_planning(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    claim(planned(given, run), run)
    (run / WEIGHTS_NAME).touch()

    with pytest.raises(RunError, match=r"the run of another recipe \(seed: 7 became 8\)"):
        claim(planned({**given, "seed": 8}, run), run)
    with pytest.raises(UsageError, match="was planned for 60; leave it out"):
        planned(given, run, 20)

    assert len(rehearsals) == 1


def test_a_run_from_before_there_were_plans_goes_on_with_its_defaults(
    given: dict[str, Any], rehearsals: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / RECIPE_FILE).write_text(MARK)
    (tmp_path / "run" / FINISHED_FILE).touch()

    assert planned(given, tmp_path / "run").model.positional_encoding == "interleaved"
    with pytest.raises(UsageError, match="was not planned; leave it out"):
        planned(given, tmp_path / "run", 20)
    assert rehearsals == []


@pytest.mark.parametrize("damaged", ["{", "[" * 100_000, '{"given": {}}'])
@pytest.mark.parametrize("has_begun", [False, True])
def test_a_damaged_plan_is_neither_followed_nor_replaced(
    *, has_begun: bool, damaged: str, given: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / PLAN_FILE).write_text(damaged)
    if has_begun:
        (tmp_path / "run" / RECIPE_FILE).write_text(MARK)
        (tmp_path / "run" / FINISHED_FILE).touch()

    with pytest.raises(RunError, match=r"plan\.json: not a plan that training wrote; delete it"):
        planned(given, tmp_path / "run")


def test_nothing_is_planned_where_it_could_not_be_trained(
    given: dict[str, Any],
    rehearsals: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "model.toml").touch()

    with pytest.raises(RunError, match=r"model\.toml was not made by a run"):
        planned(given, tmp_path / "taken")
    for name, value in ONE_OF_TWO.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="several processes cannot plan them"):
        planned(given, tmp_path / "run")
    assert rehearsals == []


def test_sizes_are_the_sections_that_a_plan_decides_alone(given: dict[str, Any]) -> None:
    assert sizes_of({**given, "training": {"device": "cpu", "precision": "fp32"}}) == []
    assert sizes_of({**given, "model": {}}) == ["model"]
    training = {"device": "cpu", "updates": 9}
    assert sizes_of({**given, "training": training}) == ["training.updates"]


def test_minutes_and_sizes_contradict_each_other(
    given: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "my.toml"
    recipe.write_text(tomli_w.dumps({**given, "model": {"preset": "tiny"}}))
    bare = tmp_path / "bare.toml"
    bare.write_text(tomli_w.dumps(given))
    of_its_own = "has sizes of its own"

    assert main(["train", str(recipe), "--minutes", "5"]) == 2
    assert f"{recipe} {of_its_own}" in capsys.readouterr().err
    assert main(["train", str(recipe), "--set", "model.preset=small", "--minutes", "5"]) == 2
    assert f"{recipe} {of_its_own}" in capsys.readouterr().err
    assert main(["train", str(bare), "--set", "training.updates=9", "--minutes", "5"]) == 2
    refused = f"--set {of_its_own} (training.updates); leave one or the other out"
    assert refused in capsys.readouterr().err


@pytest.mark.slow
def test_a_recipe_without_sizes_is_planned_and_trained(
    given: dict[str, Any],
    rehearsals: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {"FEWEST_UPDATES": 10, "MOST_REPETITIONS": 1}.items():
        monkeypatch.setattr(plan, name, value)
    given["search"] = {"max_length_ratio": 0.0, "max_length_extra": 2}
    recipe = tmp_path / "my.toml"
    recipe.write_text(tomli_w.dumps(given))
    command = ["train", str(recipe), "-o", str(tmp_path / "run"), "--minutes", "90"]

    assert main(command) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert main(command) == 0

    assert said.index("rehearsing") < said.index("predicted: ") < said.index("training pairs")
    assert (tmp_path / "run" / "model.safetensors").exists()
    again = " ".join(capsys.readouterr().err.split())
    assert len(rehearsals) == 1
    assert "this run is finished; nothing is left to do" in again


@pytest.mark.slow
def test_models_of_an_ensemble_have_one_plan_for_the_share_of_each(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def rehearse(*_: object, **__: object) -> Rehearsal:
        threads.append(os.environ["OMP_NUM_THREADS"])
        return REHEARSAL

    monkeypatch.setattr(plan, "rehearse", rehearse)
    for name, value in {"FEWEST_UPDATES": 10, "MOST_REPETITIONS": 1}.items():
        monkeypatch.setattr(plan, name, value)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    monkeypatch.setattr("torch.set_num_threads", lambda number: None)
    given["search"] = {"max_length_ratio": 0.0, "max_length_extra": 2}
    recipe = tmp_path / "my.toml"
    recipe.write_text(tomli_w.dumps(given))
    command = ["train", str(recipe), "-o", str(tmp_path / "both"), "--minutes", "90"]

    assert main([*command, "--ensemble", "2"]) == 0
    assert main([*command, "--ensemble", "2"]) == 0  # and leaves it as it is

    assert threads == ["1"]
    one, other = (
        (tmp_path / f"both-seed-{seed}" / RECIPE_FILE).read_text().replace(f"seed = {seed}", "")
        for seed in (7, 8)
    )
    assert one == other
    assert (tmp_path / "both" / WEIGHTS_NAME).exists()
