"""Recipes compose all settings, and say which key is wrong."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from dragoman.config import to_table
from dragoman.decoding.config import RANGES
from dragoman.errors import DragomanError, UsageError
from dragoman.recipe import Recipe, differences, read_recipe, recipe_from_table

ROOT = Path(__file__).parents[1]
WIDEST = RANGES["beam_size"][1]
SMALLEST: dict[str, Any] = {
    "source_language": "en",
    "target_language": "it",
    "corpora": {"train": [{"path": "pairs.tsv"}]},
}


def test_a_recipe_needs_languages_and_text_only() -> None:
    recipe = recipe_from_table(SMALLEST)

    assert recipe.languages == ("en", "it")
    assert recipe.model.d_model == 512


def test_a_preset_is_a_start_that_other_keys_change() -> None:
    recipe = recipe_from_table({**SMALLEST, "model": {"preset": "small", "d_ff": 512}})

    assert (recipe.model.num_encoder_layers, recipe.model.d_model, recipe.model.d_ff) == (
        3,
        256,
        512,
    )


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"model": {"preset": "smal"}}, "unknown model.preset 'smal'; did you mean 'small'?"),
        ({"model": {"preset": ["tiny"]}}, "unknown model.preset ['tiny']; did you mean 'tiny'?"),
        ({"corpora": {"train": [{"path": "a", "weight": 1e300}]}}, "at most 1,000,000"),
        ({"corpora": {"train": [{"path": "a", "weight": 0.0}]}}, "should be above zero"),
        ({"seed": 2**63}, f"seed = {2**63} is not between 0 and {2**63 - 1}"),
        ({"source_language": " "}, "source_language is empty; name it by its code, as en"),
        ({"target_language": "Italian"}, "is the name of a language; write its code, it"),
        ({"target_language": "i"}, "target_language = 'i' is not a language code; write it as en"),
        ({"target_language": "it,fr"}, "target_language = 'it,fr' is not a language code"),
        ({"target_language": "en"}, "source_language and target_language are both 'en'"),
        ({"tokenizer": {"vocab_size": 3}}, "vocab_size=3 is less than 5"),
        ({"training": {"learning_rate": float("inf")}}, "inf should be above zero and finite"),
        ({"training": {"weight_decay": float("inf")}}, "inf should be zero or more, and finite"),
        ({"training": {"r_drop": float("inf")}}, "inf should be zero or more, and finite"),
        ({"training": {"search_every": 0}}, "search_every = 0 should be at least 1"),
        ({"training": {"adam_betas": [0.9, 1.0]}}, "should be two numbers in [0, 1)"),
        ({"training": {"search_beam_size": WIDEST + 1}}, "beam_size = 1025 should be between 1"),
        ({"model": {"dropuot": 0.1}}, "unknown key model.dropuot; did you mean model.dropout?"),
        ({"updates": 5}, "unknown key updates; did you mean training.updates?"),
        ({"max_length_ratio": 2}, "did you mean cleaning.max_length_ratio or search.max_"),
        ({"tokenizer": {"joint": False}}, "tokenizer.joint = false does not go with"),
        ({"training": {"metric": "BLEU", "search_every": 2}}, "needs search_every = 1"),
        ({"training": {"metric": "chrF", "search_every": 2}}, "needs search_every = 1"),
        ({"training": {"from_model": "a", "layers_from": "b"}}, "'a' does not go with layers_from"),
        ({"training": {"from_model": ""}}, "from_model is empty; name a model directory, or"),
        ({"training": {"layers_from": ""}}, "layers_from is empty; name a model directory, or"),
        (
            {"model": {"dropout": 0.0}, "training": {"r_drop": 5.0}},
            "training.r_drop = 5.0 needs model.dropout or another",
        ),
        ({"model": {"d_model": 6, "num_heads": 4}}, "d_model=6 is not a multiple of num_heads=4"),
    ],
)
def test_the_bad_key_is_named(section: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        recipe_from_table({**SMALLEST, **section})

    assert message in str(error.value)


@pytest.mark.parametrize(
    ("language", "tokenize"),
    [
        *(("zh", "zh"), ("zh_CN", "zh"), ("yue", "zh"), ("th", "char"), ("my_MM", "char")),
        *(("jav", "13a"), ("it", "13a"), ("zza", "13a")),
    ],
)
def test_bleu_splits_words_as_the_target_language_needs(language: str, tokenize: str) -> None:
    recipe = recipe_from_table({**SMALLEST, "target_language": language})

    assert recipe.evaluation.tokenize == tokenize


def test_ter_is_left_out_where_it_cannot_split_words() -> None:
    def metrics(language: str, **evaluation: Any) -> tuple[str, ...]:
        table = {**SMALLEST, "target_language": language, "evaluation": evaluation}
        return recipe_from_table(table).evaluation.metrics

    assert metrics("it") == metrics("zh") == ("BLEU", "chrF", "TER")
    assert metrics("th") == metrics("km", tokenize="13a") == ("BLEU", "chrF")
    assert metrics("th", metrics=["TER"]) == ("TER",)


@pytest.mark.parametrize(("installed", "tokenize"), [(True, "ja-mecab"), (False, "char")])
def test_japanese_is_split_into_words_where_mecab_is_installed(
    installed: bool, tokenize: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.evaluation.config.find_spec", lambda name: installed or None)

    recipe = recipe_from_table({**SMALLEST, "target_language": "ja"})

    assert recipe.evaluation.tokenize == tokenize


def test_a_recipe_may_choose_how_bleu_splits_words() -> None:
    table = {**SMALLEST, "target_language": "zh", "evaluation": {"tokenize": "char"}}

    assert recipe_from_table(table).evaluation.tokenize == "char"


def test_a_recipe_survives_being_written() -> None:
    recipe = recipe_from_table({**SMALLEST, "model": {"preset": "tiny"}})

    assert recipe_from_table(to_table(recipe)) == recipe


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.toml")), ids=lambda p: p.stem)
def test_every_recipe_of_the_project_can_be_read(path: Path) -> None:
    assert isinstance(read_recipe(path).recipe, Recipe)


def test_differences_of_corpora_name_the_one_that_changed() -> None:
    first, second = {"path": "a.tsv", "weight": 1.0}, {"path": "b.tsv", "weight": 1.0}
    old = {"train": [first, second], "test": [], "metrics": ["BLEU"]}
    new = {"train": [first, {**second, "weight": 2.0}], "test": [first], "metrics": ["chrF"]}

    assert differences(old, new) == {
        "metrics": "['BLEU'] became ['chrF']",
        "test.1": f"None became {first}",
        "train.2.weight": "1.0 became 2.0",
    }


def test_differences_name_both_values() -> None:
    old = {"a": 1, "b": {"c": 2, "d": 3}}
    new = {"a": 1, "b": {"c": 5}, "e": 4}

    assert differences(old, new) == {
        "b.c": "2 became 5",
        "b.d": "3 became None",
        "e": "None became 4",
    }


@pytest.mark.parametrize(
    ("model", "assignments", "replaced"),
    [
        ({"d_model": 64, "d_ff": 256}, ("model.preset=tiny",), "model.d_model = 64"),
        ({"d_model": 64}, ("model.preset=base",), "model.d_model = 64"),
        ({"d_model": 128, "dropout": 0.2}, ("model.preset=tiny",), None),
        ({"d_model": 64}, ("model.preset=tiny", "model.d_model=32"), None),
        ({"preset": "small", "dropout": 0.2}, ("model.preset=tiny",), None),
        ({"preset": "small", "d_ff": 512}, ("model.dropout=0.2",), None),
        ({"preset": "small", "d_ff": 512}, ("model.preset=small",), None),
        ({}, ("model.preset=tiny",), None),
    ],
)
def test_a_preset_for_one_run_is_refused_where_the_file_has_sizes_of_its_own(
    model: dict[str, Any], assignments: tuple[str, ...], replaced: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(tomli_w.dumps({**SMALLEST, "model": model}), encoding="utf-8")

    if replaced is None:
        read_recipe(path, assignments)
        return
    with pytest.raises(UsageError, match=f"does not change {replaced}, which the file says"):
        read_recipe(path, assignments)


def test_a_recipe_is_read_once_so_that_it_may_be_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "recipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_text, args=(tomli_w.dumps(SMALLEST),))
    writing.start()

    recipe, written, given = read_recipe(pipe, ("seed=3",))

    writing.join()
    assert recipe.seed == 3
    assert (written, given) == (SMALLEST, {**SMALLEST, "seed": 3})


def test_a_run_is_no_recipe_and_it_is_said_how_it_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "my run"
    run.mkdir()
    with pytest.raises(
        DragomanError, match=r"my run: a directory, where a recipe is expected, which"
    ):
        read_recipe(run)
    (run / "recipe.toml").touch()

    expected = rf"; dragoman train '{run}/recipe\.toml' -o '{run}' goes on with its run$"
    with pytest.raises(DragomanError, match=expected):
        read_recipe(run)


def test_a_text_is_no_recipe_and_it_is_said_what_writes_one(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("The cat\tIl gatto\n")

    with pytest.raises(
        UsageError, match=r"pairs\.tsv: not a TOML file: .* dragoman plan writes it"
    ):
        read_recipe(pairs)
