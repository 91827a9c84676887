"""A recipe becomes a model directory, also after the mistakes that its errors tell to mend."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from dragoman.config import read_table
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.overlap import OverlapError
from dragoman.corpora.preparation import PreparationError
from dragoman.errors import DragomanError
from dragoman.evaluation.statistics import EvaluationError
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.publication import Publisher, unique_names
from dragoman.pipeline.run import (
    _doubts,
    _prepare_text,
    _resample,
    train_model,
)
from dragoman.pipeline.run_directory import RunError
from dragoman.training.journal import read_journal

from .conftest import SMALL, Listener, MakeRecipe, sentences, write_lines

pytestmark = pytest.mark.slow


def weights(run: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_file(run / "model.safetensors").items()}


def test_the_page_for_researchers_names_all_that_a_journal_has(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "research.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z`, ]+`) \| (.+) \|$", page, re.MULTILINE)
    named = {
        event: set(re.findall(r"`(\w+)`", fields))
        for events, fields in rows
        for event in re.findall(r"\w+", events)
    }

    train_model(make_recipe(), tmp_path / "run", display)

    for event in read_journal(tmp_path / "run" / "journal.jsonl"):
        assert event.keys() - {"event", "time"} <= named[event["event"]]


def test_what_the_caller_has_set_in_pytorch_changes_no_weight(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe = make_recipe(training__precision="fp32")
    train_model(recipe, tmp_path / "usual", Listener())

    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"), torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
            train_model(recipe, tmp_path / "changed", Listener())
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)

    assert weights(tmp_path / "changed") == weights(tmp_path / "usual")


def test_a_metric_that_cannot_be_computed_is_missed_before_any_work(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "MeCab", None)
    recipe = make_recipe(evaluation={"tokenize": "ja-mecab"})

    with pytest.raises(EvaluationError, match="a package for BLEU is not installed"):
        train_model(recipe, tmp_path / "run", display)

    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc")
def test_a_place_where_no_directory_can_be_made_is_named(
    make_recipe: MakeRecipe, display: Listener
) -> None:
    with pytest.raises(RunError, match=r"^/proc/runs/x: cannot be written: no directory can be"):
        train_model(make_recipe(), Path("/proc/runs/x"), display)


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="there is no /sys")
def test_a_place_where_nobody_may_write_is_named_with_the_remedy(
    make_recipe: MakeRecipe, display: Listener
) -> None:
    expected = r"^/sys/x: cannot be written: [^;]+; name another directory with -o$"
    with pytest.raises(RunError, match=expected):
        train_model(make_recipe(), Path("/sys/x"), display)


@pytest.mark.parametrize(
    ("updates", "warmup", "shares"), [(3, 2, []), (3, 3, ["100 %"]), (3, 60, ["5 %"]), (1, 1, [])]
)
def test_a_warm_up_as_long_as_the_training_is_warned_of(
    updates: int, warmup: int, shares: list[str], make_recipe: MakeRecipe
) -> None:
    recipe = make_recipe(training__updates=updates, training__warmup_updates=warmup)

    said = list(_doubts(recipe))

    assert [re.findall(r"ends at (.+) of its peak", line) for line in said] == [[s] for s in shares]


@pytest.mark.parametrize(
    ("schedule", "rate", "warned"),
    [("paper", 1e-3, True), ("paper", 0.5, False), ("inverse_square_root", 1e-3, False)],
)
def test_a_peak_that_is_taken_for_a_factor_on_the_paper_s_formula_is_warned_of(
    *,
    schedule: str,
    rate: float,
    warned: bool,
    make_recipe: MakeRecipe,
) -> None:
    training = {**SMALL["training"], "schedule": schedule, "learning_rate": rate}

    said = list(_doubts(make_recipe(training=training)))

    # 0.001 * 16^-0.5 * 1^-0.5
    assert ["peaks at 0.00025;" in line for line in said] == [True] * warned


@pytest.mark.parametrize(
    ("writes", "scores", "warned"),
    [(True, False, True), (True, True, False), (False, True, False), (False, False, False)],
)
def test_capitals_that_translations_never_have_are_warned_of(
    *, writes: bool, scores: bool, warned: bool, make_recipe: MakeRecipe
) -> None:
    recipe = make_recipe(tokenizer__lowercase=writes, evaluation__lowercase=scores)

    assert any("evaluation.lowercase" in doubt for doubt in _doubts(recipe)) == warned


@pytest.mark.parametrize(
    ("search", "named"),
    [
        ({"beam_size": 8, "patience": 3}, None),
        ({"sampling_temperature": 0.5}, None),
        ({"sampling_temperature": 0.5, "beam_size": 8}, "search.beam_size"),
        (
            {"sampling_temperature": 0.5, "beam_size": 2, "patience": 3},
            "search.beam_size and search.patience",
        ),
    ],
)
def test_settings_of_a_beam_that_sampling_does_without_are_warned_of(
    search: dict[str, float],
    named: str | None,
    make_recipe: MakeRecipe,
    tmp_path: Path,
    display: Listener,
) -> None:
    train_model(make_recipe(search=search), tmp_path / "run", display)

    said = [line for line in display.messages if "search.sampling_temperature" in line]
    assert len(said) == (named is not None)
    assert named is None or f"draws translations, which {named} cannot change" in said[0]
    has_beam = "sampling_temperature" not in search
    assert any("search_beam_size" in line for line in display.messages) == has_beam


@pytest.mark.parametrize("is_fast", [True, False])
def test_bf16_that_the_processor_emulates_is_warned_of(
    *,
    is_fast: bool,
    make_recipe: MakeRecipe,
    tmp_path: Path,
    display: Listener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    capabilities = {"avx512_bf16": is_fast}
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities)

    train_model(make_recipe(training__precision="bf16"), tmp_path / "run", display)

    assert any("only emulates bf16" in line for line in display.messages) is not is_fast


def test_other_subwords_spell_the_same_sentences(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe(tokenizer={"kind": "bpe", "sampling": 0.5})
    text = _prepare_text(recipe, tmp_path, display)
    pairs = [line.split("\t") for line in sentences(100, 140)]
    tokenizers = text.tokenizers.source, text.tokenizers.target
    stored = [
        [np.array(ids) for ids in tokenizer.encode_batch([pair[side] for pair in pairs])]
        for side, tokenizer in enumerate(tokenizers)
    ]
    resample = _resample(recipe, text)
    assert resample is not None

    drawn, again, other = (resample(stored[0], stored[1], seed) for seed in (1, 1, 2))

    assert drawn == again
    for side, tokenizer in enumerate(tokenizers):
        assert [tokenizer.decode(np.array(ids).tolist()) for ids in drawn[side]] == [
            pair[side] for pair in pairs
        ]
        assert drawn[side] != [ids.tolist() for ids in stored[side]]
        assert drawn[side] != other[side]


def test_another_seed_begins_with_other_weights(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    still = {**SMALL["training"], "updates": 1, "warmup_updates": 0, "learning_rate": 1e-12}
    for name, seed in (("one", 1), ("other", 2)):
        train_model(make_recipe(seed=seed, training=still), tmp_path / name, display)

    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "other"))
    name = "encoder.blocks.0.feed_forward.widen.weight"
    assert np.abs(one[name] - other[name]).max() > 0.01


def test_a_run_whose_end_is_cut_off_is_not_finished(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Publisher, "finish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            train_model(make_recipe(), tmp_path / "run", display)

    train_model(make_recipe(), tmp_path / "run", display)

    assert any("candidate update" in message for message in display.messages)
    assert (tmp_path / "run" / "finished").exists()


def test_following_the_advice_of_an_error_leads_on(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    overlapping = [{"path": write_lines(tmp_path / "test.tsv", sentences(140, 160))}]
    with pytest.raises(OverlapError, match=r'set corpora\.overlap to "drop"'):
        train_model(make_recipe(corpora__test=overlapping), tmp_path / "run", display)
    recipe = make_recipe(corpora__test=overlapping, corpora__overlap="drop")

    assert train_model(recipe, tmp_path / "run", display) is None

    card = (tmp_path / "run" / "README.md").read_text()
    assert "| train | 1 | 50 | 40 | 10 evaluation sentences left out |" in card


def test_until_there_is_a_checkpoint_another_setting_prepares_the_text_again(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    exploding = make_recipe(training__learning_rate=1e38, training__validate_every=3)
    with pytest.raises(DragomanError, match=r"lower training\.learning_rate"):
        train_model(exploding, tmp_path / "run", display)

    assert train_model(make_recipe(batching__max_length=14), tmp_path / "run", display) is None


def test_lost_text_is_prepared_again_and_the_run_goes_on_with_it(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    train_model(make_recipe(), tmp_path / "straight", display)
    train_model(make_recipe(), tmp_path / "run", display)
    (tmp_path / "run" / "finished").unlink()
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "update-00000003")
    shutil.rmtree(tmp_path / "run" / "data")
    display.messages.clear()

    assert train_model(make_recipe(), tmp_path / "run", display) is None

    assert "learning the vocabulary" in display.messages
    assert "going on after update 2" in display.messages
    assert weights(tmp_path / "run") == weights(tmp_path / "straight")


def test_a_run_that_goes_on_in_another_number_format_is_warned_of(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(make_recipe(), tmp_path / "run", display)
    (tmp_path / "run" / "finished").unlink()
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": True})

    assert train_model(make_recipe(), tmp_path / "run", display) is None

    warnings = [message for message in display.messages if "has computed in" in message]
    assert len(warnings) == 1
    assert warnings[0].startswith("warning: this run has computed in float32 until now, and goes ")


def test_text_that_changed_under_checkpoints_is_refused(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    train_model(make_recipe(), tmp_path / "run", display)
    (tmp_path / "run" / "finished").unlink()
    write_lines(tmp_path / "text" / "train.tsv", sentences(100, 151))

    with pytest.raises(PreparationError, match=r"train\.tsv changed since"):
        train_model(make_recipe(), tmp_path / "run", display)


def test_a_finished_run_does_not_pass_for_one_of_text_that_was_added(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe()
    train_model(recipe, tmp_path / "run", display)
    write_lines(tmp_path / "text" / "train.tsv", sentences(100, 151))

    with pytest.raises(RunError, match=r"finished, and \S+train\.tsv changed since; name another"):
        train_model(recipe, tmp_path / "run", display)

    (tmp_path / "text" / "train.tsv").unlink()
    train_model(recipe, tmp_path / "run", display)
    assert display.messages[-1].endswith("this run is finished; nothing is left to do")


def test_test_sets_of_one_name_keep_their_scores_and_warnings_apart(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    tests = [
        {"path": write_lines(tmp_path / year / "test.tsv", sentences(first, first + 4))}
        for year, first in (("2013", 300), ("2014", 10**12))  # of 13 words, which is too many
    ]

    train_model(make_recipe(corpora__test=tests), tmp_path / "run", display)

    assert [line[:42] for line in display.messages if "pieces were translated" in line] == [
        "warning: 2014/test: 4 of 4 texts had a sen"
    ]
    training = read_table(tmp_path / "run" / "model.toml")["training"]
    assert list(training["scores"]) == ["2013/test", "2014/test"]
    assert training["weights"].startswith("update ")
    train_model(make_recipe(corpora__test=tests), tmp_path / "run", display)
    assert display.messages[-1].endswith("nothing is left to do")
    other = make_recipe(corpora__test=tests, evaluation__metrics=["chrF"])
    train_model(other, tmp_path / "run", display)
    assert "before (evaluation.metrics: ['BLEU', 'chrF', 'TER'] became" in display.messages[-1]


def test_names_are_unique_whatever_the_paths() -> None:
    paths = ["a/test.tsv", "a/test.jsonl", "b/test.tsv", "test.tsv", "dev.tsv"]

    names = unique_names([CorpusConfig(path=path) for path in paths])

    assert names == ["a/test (1)", "a/test (2)", "b/test", "test", "dev"]


def test_what_the_scores_of_a_validation_depend_on_is_said(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe(
        target_language="zh", cleaning={"min_script_share": 0.0}, search={"beam_size": 3}
    )

    train_model(recipe, tmp_path / "run", display)

    assert "BLEU splits zh as evaluation.tokenize = zh" in display.messages
    said = [line for line in display.messages if "training.search_beam_size" in line]
    assert said == [
        "validations translate with a beam of 1 (training.search_beam_size) and the finished model "
        "with 3, keeping numbers and the like, which validations may lose: their scores differ"
    ]
    recipe = make_recipe(search={"beam_size": 3}, training__search_beam_size=3)
    train_model(recipe, tmp_path / "other", display)
    assert len([line for line in display.messages if "search_beam_size" in line]) == 1


@pytest.mark.parametrize("store", ["train", "validation"])
def test_prepared_text_with_a_flipped_bit_is_refused(
    store: str, make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    train_model(make_recipe(), tmp_path / "run", display)
    (tmp_path / "run" / "finished").unlink()
    tokens = tmp_path / "run" / "data" / store / "source.tokens"
    content = bytearray(tokens.read_bytes())
    content[0] ^= 1
    tokens.write_bytes(content)

    with pytest.raises(DragomanError, match=r"source\.tokens: changed since it was written"):
        train_model(make_recipe(), tmp_path / "run", display)


def test_an_epoch_without_a_pair_is_refused(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe()
    (corpus,) = recipe.corpora.train
    light = replace(recipe.corpora, train=(replace(corpus, weight=1e-6),))

    with pytest.raises(RunError, match=r"weights of corpora\.train leave no pair in an epoch"):
        train_model(replace(recipe, corpora=light), tmp_path / "run", display)


def test_another_licence_of_a_finished_run_reaches_the_model(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    train_model(make_recipe(), tmp_path / "run", display)
    before = ModelDirectory(tmp_path / "run").description

    train_model(make_recipe(licence="CC0-1.0"), tmp_path / "run", display)

    after = ModelDirectory(tmp_path / "run").description
    assert after.training["recipe"].pop("licence") == "CC0-1.0"
    assert before.training["recipe"].pop("licence") == ""
    assert after == before
    assert 'license: "CC0-1.0"' in (tmp_path / "run" / "README.md").read_text(encoding="utf-8")


def test_a_lost_model_of_a_finished_run_is_made_again_from_its_checkpoints(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    run = tmp_path / "run"
    description, model = run / "model.toml", run / "model.safetensors"
    train_model(make_recipe(), run, display)
    before = weights(run)

    for lost, size in ((description, None), (description, 0), (model, None), (model, -1)):
        if size is None:
            lost.unlink()
        else:
            lost.write_bytes(lost.read_bytes()[:size])
        display.messages.clear()
        train_model(make_recipe(), run, display)

        assert display.messages[0] == (
            f"{run}: {lost.name} is missing or damaged; the model is made again from checkpoints"
        )
        assert weights(run) == before
        assert not ModelDirectory(run).is_unfinished

    model.unlink()
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(RunError, match=r"safetensors is missing or damaged, and there are no ch"):
        train_model(make_recipe(), run, display)
    assert (run / "finished").exists()
