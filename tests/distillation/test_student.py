"""A student's recipe is its teacher's but for the model, the training text and the vocabulary."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import to_table
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.text_file import CorpusError
from dragoman.distillation.student import as_learnt, student_recipe
from dragoman.errors import UsageError
from dragoman.model.config import STUDENTS, TransformerConfig
from dragoman.model_directory import ModelDescription, ModelDirectory, TokenizerDescription
from dragoman.recipe import differences, recipe_from_table
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.training.config import TrainingConfig

PAIRS = {Path("run/distillation/distilled.tsv"): 1.0}
TEACHERS: dict[str, Any] = {
    "source_language": "en",
    "target_language": "de",
    "corpora": {
        "train": [{"path": "train.tsv", "weight": 2.0}],
        "validation": [{"path": "dev.tsv"}],
        "test": [{"path": "test.tsv"}],
        "overlap": "allow",
    },
    "tokenizer": {"kind": "bpe", "vocab_size": 300, "joint": False, "lowercase": True},
    "model": {
        "preset": "small",
        "tied_embeddings": "target",
        "positional_encoding": "rotary",
    },
    "training": {"learning_rate": 3e-3, "search_every": 2},
    "evaluation": {"lowercase": True},
}


@pytest.fixture
def teacher(tmp_path: Path) -> ModelDirectory:
    """Describe a model that was trained from a recipe; it needs no weights.

    Every run keeps its validation text, also if the recipe names one.
    """
    held_out = tmp_path / "data" / "validation.tsv"
    held_out.parent.mkdir()
    held_out.touch()
    return teacher_of(tmp_path, TEACHERS)


def teacher_of(
    path: Path, recipe: dict[str, Any], *, kind: str = "bpe", max_length: int = 256
) -> ModelDirectory:
    directory = ModelDirectory.__new__(ModelDirectory)
    directory.path = path
    directory.description = ModelDescription(
        source_language="en",
        target_language="de",
        model=TransformerConfig(tied_embeddings="target", positional_encoding="rotary"),
        tokenizer=TokenizerDescription(
            kind=kind,  # type: ignore[arg-type]
            joint=False,
            lowercase=True,
            byte_fallback=True,
            source_vocab_size=300,
            target_vocab_size=300,
            source_fingerprint="",
            target_fingerprint="",
        ),
        special_ids=SpecialIds(),
        max_length=max_length,
        search={"length_penalty": 0.8},
        training={"recipe": to_table(recipe_from_table(recipe))} if recipe else {},
    )
    return directory


def test_all_else_is_as_the_teacher_was_trained(teacher: ModelDirectory) -> None:
    before = to_table(recipe_from_table(TEACHERS))

    after = to_table(student_recipe(teacher, "small-6-1", PAIRS, ()))

    changes = [f"{key}: {change}" for key, change in differences(before, after).items()]
    assert changes == [
        "corpora.train.1.path: 'train.tsv' became 'run/distillation/distilled.tsv'",
        "corpora.train.1.weight: 2.0 became 1.0",
        "model.num_decoder_layers: 3 became 1",
        "model.num_encoder_layers: 3 became 6",
        f"tokenizer.from_model: None became {str(teacher.path)!r}",
        "tokenizer.vocab_size: 300 became None",
        "training.metric: 'loss' became 'BLEU'",
        "training.search_every: 2 became 1",
    ]


@pytest.mark.parametrize(
    ("preset", "assignment", "begins"),
    [
        ("base-12-1", "seed=1", True),
        ("base-12-1", "model.dropout=0.3", True),
        ("base-12-1", "model.d_ff=1024", False),
        ("base-12-1", "model.activation=gelu", False),
        ("base-12-1", "tokenizer.from_model=runs/other", False),
        ("small-6-1", "seed=1", False),
    ],
)
def test_a_student_begins_with_the_layers_of_a_teacher_that_is_as_wide(
    teacher: ModelDirectory, preset: str, assignment: str, begins: bool
) -> None:
    recipe = student_recipe(teacher, preset, PAIRS, (assignment,))

    assert recipe.training.layers_from == (str(teacher.path) if begins else None)


def test_the_student_of_a_student_begins_with_the_layers_of_its_own_teacher(
    tmp_path: Path,
) -> None:
    once_a_student = {**TEACHERS, "training": {"layers_from": "runs/first"}}
    teacher = teacher_of(tmp_path, once_a_student)

    assert student_recipe(teacher, "base", PAIRS, ()).training.layers_from == str(tmp_path)
    assert student_recipe(teacher, "small", PAIRS, ()).training.layers_from is None


def test_a_student_may_begin_with_another_model(teacher: ModelDirectory) -> None:
    other = ("training.layers_from=runs/other",)

    recipe = student_recipe(teacher, "base-12-1", PAIRS, other)

    assert recipe.training.layers_from == "runs/other"


def test_what_the_teacher_has_learnt_keeps_its_weight_and_its_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXT", str(tmp_path))
    corpora = {
        "train": [
            {"path": "$TEXT/a.tsv", "weight": 2.0},
            {"path": "$TEXT/b.tsv", "truecase": True},
            {"source": "hf:a", "target": "$TEXT/a.it", "weight": 0.5},
            {"path": "$GONE/c.tsv"},
        ],
        "validation": [{"path": "dev.tsv"}],
    }
    teacher = teacher_of(tmp_path, {**TEACHERS, "corpora": corpora})
    monkeypatch.chdir(tmp_path)
    given = (
        CorpusConfig(path=str(tmp_path / "a.tsv")),
        CorpusConfig(path="./b.tsv"),
        CorpusConfig(source="hf:a", target="a.it"),
        CorpusConfig(path="new.tsv"),
    )

    learnt = as_learnt(teacher, given)

    assert CorporaConfig(train=learnt).train == (
        replace(given[0], weight=2.0),
        replace(given[1], truecase=True),
        replace(given[2], weight=0.5),
        given[3],
    )


def test_text_in_the_case_of_other_text_comes_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train = [{"path": "cased.tsv"}, {"path": "shouted.tsv", "truecase": True}]
    teacher = teacher_of(tmp_path, {**TEACHERS, "corpora": {**TEACHERS["corpora"], "train": train}})
    cased, shouted = (CorpusConfig(path=f"{name}.tsv") for name in ("cased", "shouted"))

    assert as_learnt(teacher, (cased, shouted)) == (cased, replace(shouted, truecase=True))
    with pytest.raises(UsageError, match=r"^shouted\.tsv: .* name that text before it"):
        as_learnt(teacher, (shouted, cased))


def test_a_score_that_the_teacher_was_chosen_by_chooses_the_student(tmp_path: Path) -> None:
    teacher = teacher_of(tmp_path, {**TEACHERS, "training": {"metric": "chrF"}})

    training = student_recipe(teacher, "small-6-1", PAIRS, ()).training
    assert training.metric == "chrF"


def test_assignments_change_the_recipe_last(teacher: ModelDirectory) -> None:
    more = ("model.num_encoder_layers=9", "search.beam_size=1")

    recipe = student_recipe(teacher, "small-6-1", PAIRS, more)

    assert (recipe.model.num_encoder_layers, recipe.search.beam_size) == (9, 1)


def test_a_misspelt_preset_is_named_with_the_nearest_one(teacher: ModelDirectory) -> None:
    with pytest.raises(UsageError, match=r"preset 'smal-6-1'; did you mean 'small-6-1'\?"):
        student_recipe(teacher, "smal-6-1", PAIRS, ())


def test_a_student_is_not_validated_by_what_its_teacher_says(tmp_path: Path) -> None:
    recipe = {**TEACHERS, "corpora": {"train": [{"path": "train.tsv"}]}}

    with pytest.raises(UsageError, match="its recipe names no validation text"):
        student_recipe(teacher_of(tmp_path, recipe), "small-6-1", PAIRS, ())

    named = ('corpora.validation=[{path="dev.tsv"}]',)
    corpora = student_recipe(teacher_of(tmp_path, recipe), "small-6-1", PAIRS, named).corpora
    assert [each.path for each in corpora.validation] == ["dev.tsv"]


def test_what_was_held_out_from_the_teacher_validates_the_student(tmp_path: Path) -> None:
    recipe = {**TEACHERS, "corpora": {"train": [{"path": "train.tsv"}]}}
    held_out = tmp_path / "data" / "validation.tsv"
    held_out.parent.mkdir()
    held_out.touch()

    corpora = student_recipe(teacher_of(tmp_path, recipe), "small-6-1", PAIRS, ()).corpora

    assert [each.path for each in corpora.validation] == [str(held_out)]
    assert corpora.overlap == "drop"


@pytest.mark.parametrize(("max_length", "at_once"), [(40, 4096), (6000, 6002)])
def test_the_student_of_a_finetuned_model_begins_anew(
    tmp_path: Path, max_length: int, at_once: int
) -> None:
    short = {"from_model": "runs/before", "updates": 9, "learning_rate": 1e-4}
    marian = {"kind": "marian", "joint": False, "from_model": "runs/before"}
    recorded = {
        **TEACHERS,
        "tokenizer": marian,
        "training": short,
        "batching": {"tokens_per_update": 256},
    }
    teacher = teacher_of(tmp_path, recorded, kind="marian", max_length=max_length)

    recipe = student_recipe(teacher, "base-12-1", PAIRS, ())

    assert recipe.training == TrainingConfig(metric="BLEU")
    assert recipe.batching == BatchingConfig(
        max_length=max_length, max_tokens_per_micro_batch=at_once
    )
    assert recipe.tokenizer == TokenizerConfig()


def test_the_student_of_an_imported_model_has_its_length_and_search_and_learns_a_vocabulary(
    tmp_path: Path,
) -> None:
    teacher = teacher_of(tmp_path, {}, kind="marian", max_length=512)

    named = ('corpora.validation=[{path="dev.tsv"}]',)
    recipe = student_recipe(teacher, "base-12-1", PAIRS, named)

    assert recipe.batching.max_length == 512
    assert recipe.search.length_penalty == 0.8
    assert recipe.tokenizer.from_model is None
    assert recipe.languages == ("en", "de")
    assert recipe.model.tied_embeddings == "all"
    assert recipe.model.positional_encoding == "interleaved"


@pytest.mark.parametrize("path", ["~/runs/fast", "~nobody", "runs/$fast", "runs/${fast}/1"])
def test_a_path_that_a_recipe_would_have_stand_for_another_is_refused(
    teacher: ModelDirectory, path: str
) -> None:
    with pytest.raises(CorpusError, match="stand for other directories"):
        student_recipe(teacher, "small-6-1", {Path(path) / "distilled.tsv": 1.0}, ())
    with pytest.raises(CorpusError, match="stand for other directories"):
        student_recipe(teacher_of(Path(path), TEACHERS), "small-6-1", PAIRS, ())


@pytest.mark.parametrize("name", STUDENTS)
def test_students_are_named_by_their_layers_and_as_wide_as_their_family(name: str) -> None:
    family, encoder, decoder = name.split("-")
    recipe = {**TEACHERS, "tokenizer": {}, "model": {"preset": name}}

    student = recipe_from_table(recipe).model

    assert (student.num_encoder_layers, student.num_decoder_layers) == (int(encoder), int(decoder))
    model = recipe_from_table({**recipe, "model": {"preset": family}}).model
    assert (
        replace(
            student,
            num_encoder_layers=model.num_encoder_layers,
            num_decoder_layers=model.num_decoder_layers,
            dropout=model.dropout,
        )
        == model
    )


def test_the_student_of_several_models_is_judged_by_text_that_one_of_them_held_out(
    tmp_path: Path,
) -> None:
    held_out = tmp_path / "second" / "data" / "validation.tsv"
    held_out.parent.mkdir(parents=True)
    held_out.touch()
    recipe = {**TEACHERS, "corpora": {"train": [{"path": "train.tsv"}]}}
    both = teacher_of(tmp_path / "both", recipe)
    both.description.training["models"] = [
        {"model": str(tmp_path / name)} for name in ("first", "second")
    ]

    corpora = student_recipe(both, "tiny-6-1", PAIRS, ()).corpora

    assert [corpus.path for corpus in corpora.validation] == [str(held_out)]
    assert corpora.overlap == "drop"
