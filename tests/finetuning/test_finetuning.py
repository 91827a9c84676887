"""A finished model learns from other text, and what it was stays as it was."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.pipeline.conftest import Listener, sentences, write_lines

from dragoman import Translator
from dragoman.cli import main
from dragoman.config import read_table, to_table
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.preparation import PreparationError
from dragoman.corpora.text_file import CorpusError
from dragoman.errors import UsageError
from dragoman.evaluation.config import EvaluationConfig
from dragoman.finetuning import recipe as recipes
from dragoman.finetuning.recipe import (
    FEWEST_UPDATES_PER_EPOCH,
    FORGETS,
    SMALLEST_UPDATE,
    FineTuning,
    finetuning_recipe,
)
from dragoman.finetuning.run import ORDER_FILE, fine_tune
from dragoman.model_directory import WEIGHTS_NAME, ModelDirectory, update_description
from dragoman.model_directory.description import FINISHED_FILE
from dragoman.pipeline.initial_weights import BEGINNING, BeginningError
from dragoman.pipeline.run import train_model
from dragoman.pipeline.run_directory import MARK, RECIPE_FILE, RunError, only_one
from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.display import Display

FineTune = Callable[..., list[str]]
ENOUGH = ("training.learning_rate=2e-2", "evaluation.bootstrap_samples=100")


def exchanged(line: str) -> str:
    """Let "one" and "two" each mean the other."""
    source, _, target = line.partition("\t")
    names = {"uno": "due", "due": "uno"}
    return f"{source}\t{' '.join(names.get(word, word) for word in target.split())}"


@pytest.fixture
def mine(tmp_path: Path) -> str:
    return write_lines(tmp_path / "mine.tsv", [exchanged(line) for line in sentences(100, 250)])


@pytest.fixture
def start(teacher: Path, mine: str, tmp_path: Path) -> FineTune:
    """Give a function that fine-tunes, and tells what it said."""

    def call(*assignments: str, epochs: float = 20.0, keep: bool | None = False) -> list[str]:
        listener = Listener()
        order = FineTuning(
            model=teacher,
            pairs=(mine,),
            epochs=epochs,
            directory=tmp_path / "run",
            keep=keep,
            assignments=assignments,
        )
        assert fine_tune(order, listener) is None
        return listener.messages

    return call


@pytest.mark.slow
def test_a_model_learns_other_words_and_the_difference_is_told(
    start: FineTune, teacher: Path, text: dict[str, str], tmp_path: Path
) -> None:
    before = (teacher / "model.safetensors").read_bytes()

    said = start(*ENOUGH)

    old, new = (Translator(path)("one one one") for path in (teacher, tmp_path / "run"))
    assert (old.split()[0], new.split()[0]) == ("uno", "due")
    assert (teacher / "model.safetensors").read_bytes() == before
    *_, held_out, its_scores, learnt, few, test, _, too_few = said
    assert held_out == "held out from the training text, 8 sentences:"
    assert its_scores.split("\n")[0].split()[:4] == ["metric", "before", "after", "difference"]
    metric, was, now, gain, *_ = its_scores.split("\n")[2].split()
    assert metric == "chrF"
    assert float(now) > float(was)
    assert gain.startswith("+")
    assert learnt.startswith(f"warning: {teacher} was trained on 8 of 8 sentences, so its scores ")
    assert test == "test, 5 sentences:"
    assert few == too_few
    assert few.startswith("warning: so few sentences tell little, ")
    assert f"; dragoman evaluate {tmp_path / 'run'} dev.tsv --compare {teacher} tells" in few
    assert f"It began with the weights of `{teacher.name}`" in (
        tmp_path / "run" / "README.md"
    ).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_same_command_goes_on_and_another_is_refused(
    start: FineTune, teacher: Path, mine: str, tmp_path: Path
) -> None:
    short = ("training.updates=2", "evaluation.bootstrap_samples=100")
    start(*short)
    weights = (tmp_path / "run" / "model.safetensors").read_bytes()

    said = start(*short)
    again = recipe_from_table(read_table(tmp_path / "run" / "recipe.toml"))
    train_model(again, tmp_path / "again", Display())

    assert "nothing is left to do" in said[0]
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == weights
    started = ModelDirectory(teacher).description.weights_sha256
    recorded = ModelDirectory(tmp_path / "run").description.training["sha256"]
    assert recorded[f"{teacher}/model.safetensors"] == started
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == weights
    with pytest.raises(RunError, match="began with other epochs and assignments"):
        start(epochs=3.0)
    (tmp_path / "run" / "finished").unlink()
    (tmp_path / "run" / BEGINNING).unlink()  # which earlier versions have not written
    update_description(teacher, weights_sha256="0" * 64)  # as if it had been trained again
    try:
        assert "weights are not those that the fine-tuning began with" in start(*short)[-1]
    finally:
        update_description(teacher, weights_sha256=started)
    recorded = ModelDirectory(tmp_path / "run").description.training["sha256"]
    assert recorded[f"{teacher}/model.safetensors"] == started
    (tmp_path / "run" / "finished").unlink()
    Path(mine).write_text(Path(mine).read_text(encoding="utf-8") + "one\tuno\n", encoding="utf-8")
    with pytest.raises(PreparationError, match=r"mine.tsv changed since"):
        start(*short)


@pytest.mark.slow
def test_what_does_not_touch_the_weights_may_change(start: FineTune, tmp_path: Path) -> None:
    short = ("training.updates=2", "evaluation.bootstrap_samples=100")
    start(*short, "training.keep_checkpoints=3")
    (tmp_path / "run" / "finished").unlink()

    start(*short, "training.keep_checkpoints = 1", "licence=CC-BY-4.0")

    recipe = recipe_from_table(read_table(tmp_path / "run" / "recipe.toml"))
    assert (recipe.training.keep_checkpoints, recipe.licence) == (1, "CC-BY-4.0")
    with pytest.raises(RunError, match="began with other assignments"):
        start(*short, "seed=9")


def test_another_training_is_not_taken_for_a_fine_tuning(start: FineTune, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / RECIPE_FILE).write_text(MARK)
    (run / FINISHED_FILE).touch()

    for _ in range(2):
        with pytest.raises(RunError, match=r"run: it holds a run that is not a fine-tuning"):
            start()
    assert not (run / ORDER_FILE).exists()


@pytest.mark.parametrize("damage", ["", "[1]", "{", "{}", '{"assignments": [1]}'])
@pytest.mark.parametrize("left", [FINISHED_FILE, WEIGHTS_NAME])  # without its checkpoints
def test_an_order_that_cannot_be_read_is_named_and_stays(
    start: FineTune, tmp_path: Path, damage: str, left: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / RECIPE_FILE).write_text(MARK)
    (run / left).touch()
    (run / ORDER_FILE).write_text(damage)

    with pytest.raises(RunError, match=rf"{ORDER_FILE}: it is damaged"):
        start()
    assert (run / ORDER_FILE).read_text() == damage


def test_what_a_fine_tuning_began_with_is_kept_while_it_is_going_on(
    start: FineTune, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / ORDER_FILE).write_text("{}")

    with only_one(run), pytest.raises(RunError, match="another process"):
        start()

    assert (run / ORDER_FILE).read_text() == "{}"


def test_the_model_itself_is_no_place_for_the_new_one(teacher: Path, mine: str) -> None:
    order = FineTuning(
        model=teacher, pairs=(mine,), epochs=1.0, directory=teacher / ".." / teacher.name
    )

    with pytest.raises(UsageError, match="that is the model itself"):
        fine_tune(order, Display())


def order_of(teacher: Path, mine: str, *assignments: str, **changed: Any) -> FineTuning:
    values = {"epochs": 1.0, "directory": Path("run"), "keep": False, **changed}
    return FineTuning(model=teacher, pairs=(mine,), assignments=assignments, **values)


def kept_of(share: float) -> str:
    return (
        f"each epoch also has {share:.2%} of the text that the model has learnt from, so that it "
        "forgets less; --no-keep leaves it out, which takes less time"
    )


def recipe_of(teacher: Path, mine: str, *assignments: str, **changed: Any) -> Recipe:
    recipe, _ = finetuning_recipe(order_of(teacher, mine, *assignments, **changed))
    return recipe


def test_a_preset_that_would_change_nothing_is_refused(teacher: Path, mine: str) -> None:
    with pytest.raises(UsageError, match=r"model\.preset cannot change a model that has learnt"):
        recipe_of(teacher, mine, "model.preset=tiny")


@pytest.mark.slow
def test_it_begins_with_the_weights_of_the_model(teacher: Path, mine: str, tmp_path: Path) -> None:
    still = ("training.updates=1", "training.warmup_updates=0", "training.learning_rate=1e-12")
    train_model(recipe_of(teacher, mine, *still), tmp_path / "run", Display())

    ours, theirs = (load_file(path / "model.safetensors") for path in (tmp_path / "run", teacher))
    for name, tensor in theirs.items():
        torch.testing.assert_close(ours[name], tensor)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("model.d_ff=20", r"has other sizes .* \(model.d_ff"),
        ("model.norm=after", r"has other sizes .* \(model.norm"),
        ("tokenizer.from_model=", "has another vocabulary .*; set tokenizer.from_model = "),
    ],
)
def test_another_shape_or_vocabulary_is_refused(
    assignment: str, message: str, teacher: Path, mine: str, tmp_path: Path
) -> None:
    table = to_table(recipe_of(teacher, mine))
    section, _, rest = assignment.partition(".")
    key, _, value = rest.partition("=")
    table[section][key] = int(value) if value.isdigit() else value
    if not value:
        del table[section][key]

    with pytest.raises(BeginningError, match=message):
        train_model(recipe_from_table(table), tmp_path / "run", Display())


@pytest.mark.slow
def test_a_run_goes_on_though_the_model_that_it_began_with_has_changed(
    teacher: Path, mine: str, tmp_path: Path
) -> None:
    class Stopping(Display):
        def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    model = shutil.copytree(teacher, tmp_path / "model")
    recipe = recipe_of(model, mine, "training.updates=2")
    assert train_model(recipe, tmp_path / "run", Stopping()) == signal.SIGTERM
    (model / "model.toml").unlink()
    (model / "model.safetensors").unlink()

    assert train_model(recipe, tmp_path / "run", Display()) is None

    recorded = ModelDirectory(tmp_path / "run").description.training["sha256"]
    assert (
        recorded[f"{model}/model.safetensors"] == ModelDirectory(teacher).description.weights_sha256
    )


def test_updates_are_small_where_the_text_is(teacher: Path, mine: str) -> None:
    lines = Path(mine).read_text(encoding="utf-8").splitlines()
    num_tokens = sum(len(line.split("\t")[1].split()) + 1 for line in lines)
    assert num_tokens == 600

    recipe = recipe_of(teacher, mine)

    assert num_tokens / FEWEST_UPDATES_PER_EPOCH < SMALLEST_UPDATE
    assert recipe.batching.tokens_per_update == SMALLEST_UPDATE
    assert recipe.training.updates == round(num_tokens / SMALLEST_UPDATE)
    assert recipe.batching.max_length == ModelDirectory(teacher).description.max_length


@pytest.mark.parametrize(("fewest", "size"), [(25, 600 // 25), (1, 256)])
def test_an_epoch_has_many_updates_of_the_size_of_the_model_at_most(
    teacher: Path, mine: str, fewest: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipes, "SMALLEST_UPDATE", 20)
    monkeypatch.setattr(recipes, "FEWEST_UPDATES_PER_EPOCH", fewest)

    assert recipe_of(teacher, mine).batching.tokens_per_update == size


def test_what_is_named_stays(teacher: Path, mine: str) -> None:
    named = ("training.warmup_updates=7", "training.validate_every=9")
    recipe = recipe_of(teacher, mine, "batching.tokens_per_update=300", *named)

    assert recipe.batching.tokens_per_update == 300
    assert (recipe.training.warmup_updates, recipe.training.validate_every) == (7, 9)


def test_an_epoch_of_a_handful_of_pairs_is_an_update(teacher: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.tsv"
    few.write_text("one two\tuno due\nthree\ttre\n", encoding="utf-8")

    recipe = recipe_of(teacher, str(few), "training.schedule=paper", epochs=3.0)

    assert recipe.training.updates == 3
    assert recipe.training.warmup_updates == 1  # without any, the paper's schedule has no beginning


def test_what_is_not_named_follows_from_what_is(teacher: Path, mine: str) -> None:
    weighted = f'corpora.train=[{{path="{mine}", weight=4}}]'
    large = recipe_of(teacher, mine, "batching.tokens_per_update=300")
    many = recipe_of(teacher, mine, weighted)
    short = recipe_of(teacher, mine, "training.updates=20")

    by_bleu = recipe_of(teacher, mine, "training.metric=BLEU")
    uneven = recipe_of(teacher, mine, "training.updates=11")

    assert large.training.updates == 600 / 300
    assert many.training.updates == round(4 * 600 / SMALLEST_UPDATE)
    assert (short.training.warmup_updates, short.training.validate_every) == (2, 2)
    assert by_bleu.training.search_every == 1
    assert uneven.training.validate_every == 2  # 6 times, and not 11


def test_the_licence_is_not_that_of_the_old_text(teacher: Path, mine: str) -> None:
    recorded = ModelDirectory(teacher).description.training["recipe"]
    assert recorded["licence"] == "free"

    assert recipe_of(teacher, mine).licence == ""


@pytest.fixture
def copied(teacher: Path, tmp_path: Path) -> Path:
    """Copy the teacher, to say something else of it."""
    copy = tmp_path / "model"
    shutil.copytree(teacher, copy)
    return copy


def test_the_training_is_gentle_and_smooths_as_the_model_did(copied: Path, mine: str) -> None:
    training = ModelDirectory(copied).description.training
    recorded = {**training["recipe"]["training"], "label_smoothing": 0.2}
    recipe = {**training["recipe"], "training": recorded}
    update_description(copied, training={**training, "recipe": recipe})

    made = recipe_of(copied, mine).training

    assert made.label_smoothing == 0.2
    assert made.learning_rate == recipes.RATE_TIMES_WIDTH / 16  # the width of the model
    assert made.schedule == "linear"
    assert made.search_every == 5  # of ten validations


@pytest.mark.parametrize(
    ("from_model", "max_length", "at_once"),
    [
        (None, 12, 256),
        ("other", 12, BatchingConfig.max_tokens_per_micro_batch),
        ("other", 6000, 6002),
    ],
)
def test_batches_are_made_as_for_the_model_unless_that_was_fine_tuned(
    copied: Path, mine: str, from_model: str | None, max_length: int, at_once: int
) -> None:
    training = ModelDirectory(copied).description.training
    settings = training["recipe"]["training"] | ({"from_model": from_model} if from_model else {})
    recipe = {**training["recipe"], "training": settings}
    update_description(copied, max_length=max_length, training={**training, "recipe": recipe})

    made = recipe_of(copied, mine)

    assert made.batching.max_tokens_per_micro_batch == at_once
    assert made.batching.max_length == max_length
    assert not made.tokenizer.byte_fallback


def test_test_text_that_is_somewhere_else_or_another_is_told(
    copied: Path,
    mine: str,
    tmp_path: Path,
    text: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(Path("other.tsv"), sentences(500, 505))
    training = ModelDirectory(copied).description.training
    corpora = {
        **training["recipe"]["corpora"],
        "test": [
            {"path": name} for name in ("$NOWHERE/a.tsv", "gone.tsv", "other.tsv", text["test"])
        ],
    }
    changed = {
        "recipe": {**training["recipe"], "corpora": corpora},
        "sha256": {**training["sha256"], "other.tsv": training["sha256"][text["test"]]},
    }
    update_description(copied, training={**training, **changed})

    recipe, remarks = finetuning_recipe(order_of(copied, mine))

    assert [corpus.path for corpus in recipe.corpora.test] == [text["test"]]
    assert remarks == [
        "not tested on $NOWHERE/a.tsv: the environment variable NOWHERE is not defined",
        "not tested on gone.tsv: there is no such file",
        "not tested on other.tsv: it is not the file that the model was tested on",
        f"{FORGETS} (--no-keep)",
    ]


@pytest.mark.parametrize("keep", [True, None])
@pytest.mark.parametrize("at_once", [7, 4096])
def test_what_is_kept_is_as_much_as_what_is_new(
    teacher: Path,
    tmp_path: Path,
    text: dict[str, str],
    at_once: int,
    keep: bool | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recipes, "ENCODED_AT_ONCE", at_once)
    third_of_old = sentences(100, 150)
    short = write_lines(tmp_path / "short.tsv", [*third_of_old, *third_of_old])
    order = order_of(teacher, short, keep=keep)

    recipe, remarks = finetuning_recipe(order)

    new, old = recipe.corpora.train
    assert (new.path, new.weight, new.hold_out) == (short, 1.0, True)
    assert (old.path, old.hold_out) == (text["train"], False)
    assert old.weight == pytest.approx(1 / 2)  # of the other two thirds
    assert remarks == [kept_of(0.5)]
    assert recipe.training.updates == round((200 + 400 / 2) / SMALLEST_UPDATE)


def test_little_old_text_is_kept_as_it_was(
    copied: Path, mine: str, tmp_path: Path, text: dict[str, str]
) -> None:
    training = ModelDirectory(copied).description.training
    corpora = {**training["recipe"]["corpora"], "train": [{"path": text["train"], "weight": 0.5}]}
    changed = {"recipe": {**training["recipe"], "corpora": corpora}}
    update_description(copied, training={**training, **changed})

    recipe, remarks = finetuning_recipe(order_of(copied, mine, keep=True))

    assert recipe.corpora.train[1].weight == 0.5
    assert remarks == [kept_of(0.5)]


def test_old_text_that_is_not_there_is_not_kept(
    copied: Path, mine: str, text: dict[str, str]
) -> None:
    named = f'corpora.train=[{{path="{mine}"}}]'
    with pytest.raises(UsageError, match=r"--keep and corpora\.train both name old text"):
        recipe_of(copied, mine, named, keep=True)
    recipe, remarks = finetuning_recipe(order_of(copied, mine, named, keep=None))
    assert ([corpus.path for corpus in recipe.corpora.train], remarks) == ([mine], [])

    training = ModelDirectory(copied).description.training
    sums = {**training["sha256"], text["train"]: "another"}
    update_description(copied, training={**training, "sha256": sums})
    with pytest.raises(UsageError, match="it is not the file that the model was trained on"):
        recipe_of(copied, mine, keep=True)
    recipe, (remark,) = finetuning_recipe(order_of(copied, mine, keep=None))
    assert [corpus.path for corpus in recipe.corpora.train] == [mine]
    reason = "it is not the file that the model was trained on"
    assert remark == f"{FORGETS} ({text['train']}: {reason})"

    update_description(copied, training={"sha256": training["sha256"]})
    with pytest.raises(UsageError, match="does not say what it has learnt from"):
        recipe_of(copied, mine, keep=True)
    assert finetuning_recipe(order_of(copied, mine, keep=None))[1] == []


def test_old_text_that_cannot_be_used_is_left_out_unless_it_must_not(
    teacher: Path, tmp_path: Path, text: dict[str, str]
) -> None:
    new = write_lines(tmp_path / "new.tsv", sentences(500, 550))
    validated = f'corpora.validation=[{{path="{text["train"]}"}}]'
    objection = f"{text['train']}: 150 pairs of the training text would give away"

    with pytest.raises(CorpusError, match=objection):
        recipe_of(teacher, new, validated, keep=True)
    recipe, (remark,) = finetuning_recipe(order_of(teacher, new, validated, keep=None))
    assert [corpus.path for corpus in recipe.corpora.train] == [new]
    assert remark.startswith(f"{FORGETS} ({objection}")
    assert recipe == recipe_of(teacher, new, validated)


@pytest.mark.slow
def test_what_is_kept_validates_nothing_and_may_not_change(
    start: FineTune, mine: str, tmp_path: Path
) -> None:
    start(*ENOUGH, epochs=1.0, keep=True)
    start(*ENOUGH, epochs=1.0, keep=None)

    held_out = (tmp_path / "run" / "data" / "validation.tsv").read_text(encoding="utf-8")
    lines = Path(mine).read_text(encoding="utf-8").splitlines()
    assert set(held_out.splitlines()) <= set(lines)
    with pytest.raises(RunError, match="its fine-tuning began with other keep"):
        start(*ENOUGH, epochs=1.0)


@pytest.mark.slow
def test_an_order_of_before_goes_on(start: FineTune, tmp_path: Path) -> None:
    start(*ENOUGH, epochs=1.0)
    order = tmp_path / "run" / ORDER_FILE
    begun = json.loads(order.read_bytes())
    del begun["keep"]
    order.write_text(json.dumps(begun), encoding="utf-8")

    start(*ENOUGH, epochs=1.0)

    with pytest.raises(RunError, match="its fine-tuning began with other keep"):
        start(*ENOUGH, epochs=1.0, keep=True)


@pytest.mark.parametrize("pair", [f"{'one ' * 20}\t{'uno ' * 20}", "the same\tthe same"])
def test_a_text_of_which_nothing_is_left_is_refused(
    teacher: Path, tmp_path: Path, pair: str
) -> None:
    text = write_lines(tmp_path / "text.tsv", [pair])
    message = r"^what cleaning leaves .*; .* leaves out, and the model takes at most \d+ tokens$"

    with pytest.raises(CorpusError, match=message):
        recipe_of(teacher, text)


def test_a_wrong_assignment_names_the_model(teacher: Path, mine: str) -> None:
    with pytest.raises(UsageError, match=f"the fine-tuning of {teacher}: unknown key"):
        recipe_of(teacher, mine, "training.updtes=3")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the text that the model learns from"),
        (["mine.tsv", "--epochs", "0"], "--epochs 0: it should be above zero"),
        (["mine.tsv", "--epochs", "inf"], "--epochs inf: it should be above zero and finite"),
        (["mine.tsv", "--epochs", "nan"], "--epochs nan: it should be above zero"),
    ],
)
def test_wrong_use_is_refused(
    arguments: list[str], message: str, teacher: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["finetune", str(teacher), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_longest_sentences_that_the_model_has_seen_are_learnt_from(
    teacher: Path, tmp_path: Path
) -> None:
    longest = ModelDirectory(teacher).description.max_length
    for length, is_learnt in ((longest, True), (longest + 1, False)):
        text = write_lines(tmp_path / "long.tsv", [f"{'one ' * length}\t{'uno ' * length}"])
        if is_learnt:
            assert recipe_of(teacher, text, epochs=3.0).training.updates == 3
        else:
            with pytest.raises(CorpusError, match="no sentence that the model could learn from"):
                recipe_of(teacher, text, epochs=3.0)


def test_what_is_named_stays_whatever_else_is_named_and_however_it_is_written(
    teacher: Path, mine: str
) -> None:
    spaced = recipe_of(teacher, mine, "training.updates = 20", "batching.tokens_per_update = 300")

    assert (spaced.training.updates, spaced.batching.tokens_per_update) == (20, 300)
    with pytest.raises(UsageError, match="needs search_every = 1"):
        recipe_of(teacher, mine, "training.metric=BLEU", "training.search_every=3")


def test_who_names_the_text_is_not_told_that_old_text_may_be_kept(
    teacher: Path, mine: str, text: dict[str, str]
) -> None:
    both = f'corpora.train=[{{path="{mine}"}}, {{path="{text["train"]}", hold_out=false}}]'

    _, remarks = finetuning_recipe(order_of(teacher, mine, both))

    assert remarks == []


@pytest.mark.slow
def test_a_model_that_is_gone_is_not_compared_with_what_it_became(
    copied: Path, mine: str, tmp_path: Path
) -> None:
    order = order_of(
        copied,
        mine,
        "training.updates=2",
        "evaluation.bootstrap_samples=100",
        directory=tmp_path / "run",
    )
    assert fine_tune(order, Display()) is None
    (copied / "model.toml").unlink()
    listener = Listener()

    assert fine_tune(order, listener) is None

    assert listener.messages[-1].endswith(", so the two are not compared")


@pytest.mark.slow
def test_the_difference_is_judged_though_the_recipe_asks_for_no_interval(start: FineTune) -> None:
    said = start("training.updates=2", "evaluation.bootstrap_samples=0")

    comparisons = [text for text in said if text.startswith("metric")]
    assert len(comparisons) == 2
    assert all(f"bs:{EvaluationConfig.bootstrap_samples}" in text for text in comparisons)
