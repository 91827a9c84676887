"""A plan fits into its time, and what it says can be trained."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from dragoman.cli import main
from dragoman.config import read_table
from dragoman.corpora.primer.corpus import generate
from dragoman.planning import plan
from dragoman.planning.plan import make_plan
from dragoman.planning.rehearsal import Rehearsal, rehearse
from dragoman.planning.text import PlanError
from dragoman.recipe import Recipe
from dragoman.training.progress import Display

REHEARSAL = Rehearsal(
    seconds_before=10.0,
    seconds_per_update=0.25,
    tokens_per_second=4096.0,
    seconds_per_validation=6.0,
    peak_mib=700.0,
)


def open_recipe(pairs: Path) -> dict[str, Any]:
    return {
        "source_language": "en",
        "target_language": "it",
        "corpora": {"train": [{"path": str(pairs)}]},
    }


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    lines = (f"{pair.source}\t{pair.target}\n" for pair in generate(1500, seed=3))
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def planned(pairs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], plan.Plan]:
    """Plan with a rehearsal whose outcome is known."""
    monkeypatch.setattr(plan, "rehearse", lambda *_, **__: REHEARSAL)
    monkeypatch.setattr(plan, "training_rate", lambda parameters: 1e10 / parameters)

    def make(minutes: float) -> plan.Plan:
        return make_plan(open_recipe(pairs), minutes, lambda message: None)

    return make


def test_a_short_time_is_filled_and_not_passed(planned: Callable[[float], plan.Plan]) -> None:
    made = planned(2.0)

    updates = made.recipe["training"]["updates"]
    searches = 5 + 2  # every second of ten validations, and two candidates at the end
    besides = 10.0 + searches * 6.0
    assert besides + updates * 0.25 < made.minutes * 60 < 120
    assert made.minutes * 60 > 110


def test_a_long_time_is_not_filled_with_repetition(planned: Callable[[float], plan.Plan]) -> None:
    made = planned(6000.0)

    batching, training = made.recipe["batching"], made.recipe["training"]
    seen = training["updates"] * batching["tokens_per_update"]
    assert made.minutes < 6000
    assert "60.0 epochs of at most 60" in made.reasons[-1]
    assert seen < 60 * 1500 * 20


def test_too_short_a_time_says_what_it_would_take(planned: Callable[[float], plan.Plan]) -> None:
    with pytest.raises(PlanError, match=r"1 minutes are not enough: .* 1\.0 minutes go by"):
        planned(1.0)


@pytest.mark.slow
def test_what_is_planned_can_be_trained(
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plan, "REHEARSED_SECONDS", 0.0)  # the fewest updates
    recipe = tmp_path / "my.toml"
    command = ["plan", str(pairs), "--languages", "en-it", "--minutes", "4", "-o", str(recipe)]

    assert main([*command, "--json"]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert printed["recipe"] == read_table(recipe)
    assert printed["peak_mib"] > 100
    assert recipe.read_text().startswith("# text: 1,4")
    shortened = ["--set", "training.updates=2", "--set", "training.validate_every=2"]
    assert main(["train", str(recipe), "-o", str(tmp_path / "run"), *shortened]) == 0
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_what_a_recipe_says_is_not_planned(
    pairs: Path, planned: Callable[[float], plan.Plan]
) -> None:
    del planned  # but its rehearsal is wanted
    table = {**open_recipe(pairs), "tokenizer": {"lowercase": True}, "training": {"patience": 3}}

    made = make_plan(table, 5.0, lambda message: None)

    assert made.recipe["tokenizer"]["lowercase"]
    assert made.recipe["tokenizer"]["vocab_size"] > 300
    assert made.recipe["training"]["patience"] == 3
    assert made.recipe["training"]["updates"] > 100


def test_a_recipe_without_sizes_is_planned_once_and_again_when_it_changes(
    pairs: Path,
    tmp_path: Path,
    planned: Callable[[float], plan.Plan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del planned
    trained: list[int] = []

    def train(recipe: Recipe, directory: Path, display: Display) -> bool:
        trained.append(recipe.training.updates)
        return True

    monkeypatch.setattr("dragoman.pipeline.run.train_model", train)
    path, run = tmp_path / "open.toml", tmp_path / "run"
    path.write_text(tomli_w.dumps(open_recipe(pairs)))
    command = ["train", str(path), "-o", str(run), "--minutes"]

    assert main([*command, "3"]) == 0
    assert main([*command, "4"]) == 0  # the plan of this recipe is there
    path.write_text(tomli_w.dumps({**open_recipe(pairs), "seed": 2}))
    assert main([*command, "4"]) == 0
    path.write_text(tomli_w.dumps({**open_recipe(pairs), "training": {"updates": 7}}))
    assert main([*command, "4"]) == 0

    assert trained[0] == trained[1] < trained[2]
    assert trained[3] == 7


def test_a_rehearsal_that_fails_says_why(pairs: Path, tmp_path: Path) -> None:
    table: dict[str, Any] = {
        "source_language": "en",
        "target_language": "it",
        "training": {"learning_rate": -1.0},
    }

    with pytest.raises(PlanError, match=r"rehearsal .* failed: .*learning_rate = -1\.0 should be"):
        rehearse(table, pairs, tmp_path, updates=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--languages", "en-it"], "name the text to plan for"),
        (["x.tsv", "--languages", "english"], "write two language codes"),
        (["x.tsv", "--languages", "en-it"], "x.tsv: there is no such file"),
    ],
)
def test_wrong_use_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err
