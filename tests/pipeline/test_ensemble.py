"""Models that decide together: a directory that translates, and nothing that takes it for one."""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.cli import main
from dragoman.corpora.learnt import count_learnt
from dragoman.decoding.config import SearchConfig
from dragoman.engines.protocol import EngineError
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import UsageError
from dragoman.model.ensemble import Ensemble
from dragoman.model_directory import ModelDirectory, ModelError
from dragoman.model_directory.lineage import trainings_behind
from dragoman.pipeline.combining import CombinationError
from dragoman.pipeline.ensemble import make_ensemble
from dragoman.pipeline.initial_weights import take_weights
from dragoman.pipeline.run import train_model
from dragoman.serving.insight import Insight
from dragoman.serving.refusal import RefusalError
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers
from dragoman.training.averaging import weights_of
from dragoman.translator import Translator

from .conftest import Listener, MakeRecipe, sentences

MakeModel = Callable[..., Path]

GREEDY = SearchConfig(beam_size=1, max_length_ratio=0.5, max_length_extra=3)
WORDS = "the dog and the cat see a bird on one of those trees"


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Make models that have learnt nothing, each from a seed of its own."""
    config = TokenizerConfig(kind="words", min_frequency=1)

    def make(seed: int, *, words: str = WORDS, **sizes: Any) -> Path:
        pair = train_tokenizers(config, lambda: iter([(words, words)]), tmp_path / "vocabulary")
        torch.manual_seed(seed)
        transformer = untrained(pair, **sizes)
        with torch.no_grad():  # as sure of something as a trained one
            transformer.projection.linear.weight.mul_(3.0)
        return save_transformer(tmp_path / f"model{seed}", transformer, pair, config).path

    return make


def greedy(directories: list[ModelDirectory], source: list[int]) -> tuple[list[int], float]:
    """Translate with nothing but the members' probabilities of each next token."""
    models = [directory.load_transformer() for directory in directories]
    description = directories[0].description
    eos, forbidden = description.special_ids.eos, torch.tensor(description.forbidden_ids)
    ids, log_probability = [description.special_ids.bos], 0.0
    for _ in range(GREEDY.max_length(len(source))):
        given = torch.tensor([[*source, eos]]), torch.tensor([ids])
        mean = torch.stack([model(*given)[0, -1].softmax(-1) for model in models]).mean(dim=0)
        best = int(mean.index_fill(0, forbidden, 0.0).argmax())
        log_probability += math.log(mean[best])
        ids.append(best)
        if best == eos:
            break
    return [i for i in ids[1:] if i != eos], log_probability


@torch.inference_mode()
def test_it_translates_by_the_mean_of_probabilities(make_model: MakeModel, tmp_path: Path) -> None:
    models = [make_model(seed) for seed in (1, 2, 3)]

    make_ensemble(models, tmp_path / "all")

    together = ModelDirectory(tmp_path / "all")
    engine = PyTorchEngine(
        together.load_model(),
        together.description.special_ids,
        forbidden_ids=together.description.forbidden_ids,
    )
    sources = together.load_tokenizers().source.encode_batch([WORDS, "the bird", "a cat"])
    found = engine.search(sources, GREEDY)
    for source, (hypothesis,) in zip(sources, found, strict=True):
        ids, log_probability = greedy([ModelDirectory(model) for model in models], source)
        assert list(hypothesis.ids) == ids
        assert hypothesis.log_probability == pytest.approx(log_probability, abs=1e-4)
    beam = replace(GREEDY, beam_size=3)
    assert engine.search(sources, beam) == [engine.search([s], beam)[0] for s in sources]
    alone = PyTorchEngine(ModelDirectory(models[0]).load_transformer(), engine._special_ids)
    assert [h.ids for (h,) in alone.search(sources, GREEDY)] != [h.ids for (h,) in found]


def test_its_directory_holds_all_weights_and_where_they_are_from(
    make_model: MakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [make_model(1), make_model(2)]
    both = tmp_path / "both"

    assert main(["ensemble", *map(str, models), "-o", str(both)]) == 0

    assert f"dragoman evaluate {both} PAIRS --compare {models[0]}" in capsys.readouterr().out
    ensemble = ModelDirectory(both).load_model()
    assert isinstance(ensemble, Ensemble)
    for model, member in zip(models, ensemble.members, strict=True):
        alone = dict(ModelDirectory(model).load_transformer().named_parameters())
        torch.testing.assert_close(dict(member.named_parameters()), alone, rtol=0, atol=0)
    assert main(["inspect", str(both)]) == 0
    shown = capsys.readouterr().out
    assert "ensemble  2 models of these sizes" in shown
    for model in models:
        assert f"   50%  {ModelDirectory(model).description.weights_sha256}  {model}" in shown
    assert main(["inspect", str(models[0]), "--json"]) == 0
    of_one = json.loads(capsys.readouterr().out)["parameters"]
    assert main(["inspect", str(both), "--json"]) == 0
    of_both = json.loads(capsys.readouterr().out)["parameters"]
    assert of_both == {part: 2 * count for part, count in of_one.items()}


def test_one_model_alone_is_refused(make_model: MakeModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name two models or more"):
        make_ensemble([make_model(1)], tmp_path / "all")


def test_more_models_than_a_description_may_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="an ensemble of 65 is too large; name at most 64"):
        make_ensemble([tmp_path / str(i) for i in range(65)], tmp_path / "all")


@pytest.mark.parametrize(
    ("other", "objection"),
    [({"words": WORDS + " now"}, "another vocabulary than"), ({"d_ff": 16}, "(model.d_ff: .*16)")],
)
def test_models_that_cannot_decide_together_are_refused(
    make_model: MakeModel, tmp_path: Path, other: dict[str, Any], objection: str
) -> None:
    models = [make_model(1), make_model(2, **other)]

    with pytest.raises(CombinationError, match=objection) as error:
        make_ensemble(models, tmp_path / "all")

    assert str(error.value).startswith(f"{models[1]}: it has")
    assert f"train it with the vocabulary and sizes of {models[0]} and a seed" in str(error.value)

    (models[0] / "recipe.toml").touch()
    with pytest.raises(CombinationError, match=f"train it with {models[0]}/recipe.toml, which"):
        make_ensemble(models, tmp_path / "all")


def test_what_takes_one_model_refuses_an_ensemble(
    make_model: MakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, third = (make_model(seed) for seed in (1, 2, 3))
    both, output = tmp_path / "both", tmp_path / "output"
    make_ensemble([one, other], both)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("the dog\tthe dog\n" * 50, encoding="utf-8")
    pairs.with_suffix(".txt").write_text("the dog\n", encoding="utf-8")
    further = tmp_path / "further.toml"
    further.write_text(
        f"""source_language = "en"
        target_language = "it"
        corpora.train = [{{ path = "{pairs}" }}]
        tokenizer = {{ kind = "words", from_model = "{both}" }}
        model = {{ preset = "tiny" }}
        training = {{ updates = 1, from_model = "{both}" }}""",
        encoding="utf-8",
    )
    for command in (
        ["export", both, "--to", "ctranslate2", "-o", output],
        ["export", both, "--to", "onnx", "-o", output],
        ["align", both, pairs],
        ["shortlist", both, pairs],
        ["translate", both, pairs.with_suffix(".txt"), "--shortlist"],
        ["explain", both, "the dog", "-o", tmp_path / "output.html"],
        ["plot", "attention", both, "the dog", "-o", tmp_path / "output.html"],
        ["plot", "architecture", both, "-o", tmp_path / "output.svg"],
        ["plot", "report", both],
        ["finetune", both, pairs, "-o", output],
        ["average", one, both, "-o", output],
        ["ensemble", both, third, "-o", output],
    ):
        assert main(list(map(str, command))) == 1, command
        *_, error = capsys.readouterr().err.splitlines()
        assert error.startswith(f"dragoman: {both}: an ensemble, which "), command
        assert not list(tmp_path.glob("output*"))
    assert main(["train", str(further), "-o", str(output)]) == 1
    assert f"dragoman: {both}: an ensemble, which " in capsys.readouterr().err
    with pytest.raises(
        EngineError, match="both: CTranslate2 has no ensembles; take engine pytorch"
    ):
        Translator(both, engine="ctranslate2")
    insight = Insight(both)
    assert not insight.explains
    with pytest.raises(RefusalError, match="it is an ensemble"):
        insight.explain("the dog")


def test_without_pytorch_no_copy_is_recommended_that_cannot_be_made(
    make_model: MakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_ensemble([make_model(1), make_model(2)], tmp_path / "both")
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "dragoman.engines.pytorch", raising=False)

    with pytest.raises(
        EngineError, match=r"an ensemble needs PyTorch, which pip install .* installs where"
    ):
        Translator(tmp_path / "both")


def test_a_cache_has_room_for_the_states_of_all(make_model: MakeModel, tmp_path: Path) -> None:
    models = [make_model(seed) for seed in (1, 2, 3)]
    make_ensemble(models, tmp_path / "all")
    special = ModelDirectory(models[0]).description.special_ids
    one, together = (
        PyTorchEngine(ModelDirectory(path).load_model(), special)
        for path in (models[0], tmp_path / "all")
    )
    assert together._tokens_in_cache == one._tokens_in_cache // 3


def test_fewer_weights_than_it_should_have_are_refused(
    make_model: MakeModel, tmp_path: Path
) -> None:
    both = tmp_path / "both"
    make_ensemble([make_model(1), make_model(2)], both)
    description = (both / "model.toml").read_text(encoding="utf-8")
    for members, objection in (
        (3, "layers"),
        (65, "ensemble_of=65 is not between 2 and 64"),
        (1, "ensemble_of=1 is not between 2 and 64"),
    ):
        changed = description.replace("ensemble_of = 2", f"ensemble_of = {members}")
        (both / "model.toml").write_text(changed, encoding="utf-8")

        with pytest.raises(ModelError, match=objection):
            ModelDirectory(both).load_model()


def test_a_student_begins_with_the_layers_of_the_first_model(
    make_model: MakeModel, tmp_path: Path
) -> None:
    models = [make_model(1, num_encoder_layers=2), make_model(2, num_encoder_layers=2)]
    make_ensemble(models, tmp_path / "both")
    both = ModelDirectory(tmp_path / "both")
    pair = both.load_tokenizers()
    student = untrained(pair, num_encoder_layers=4)

    take_weights(str(both.path), student, pair, tmp_path)

    first = ModelDirectory(models[0]).load_transformer()
    taken, theirs = weights_of(student), weights_of(first)
    name = "feed_forward.widen.weight"
    for layer, origin in enumerate([0, 0, 1, 1]):
        assert taken[f"encoder.blocks.{layer}.{name}"].equal(
            theirs[f"encoder.blocks.{origin}.{name}"]
        )
    assert taken["source_embeddings.table.weight"].equal(theirs["source_embeddings.table.weight"])


@pytest.mark.slow
def test_an_ensemble_is_scored_judged_and_distilled(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, both = (tmp_path / name for name in ("first", "second", "both"))
    long_enough = {"updates": 60, "validate_every": 60, "learning_rate": 2e-2, "device": "cpu"}
    for seed, directory in enumerate((first, second), start=1):
        recipe = make_recipe(
            licence="MIT", seed=seed, batching__tokens_per_update=256, training=long_enough
        )
        train_model(recipe, directory, display)
    make_ensemble([first, second], both)

    pairs = str(tmp_path / "text" / "held.tsv")
    compared = ["--compare", str(first), "--bootstrap-samples", "10"]
    assert main(["evaluate", str(both), pairs, *compared]) == 0
    assert main(["judge", str(both), pairs]) == 0
    capsys.readouterr()
    text = str(tmp_path / "text" / "train.tsv")
    student = tmp_path / "student"
    order = ["distill", str(both), text, "--student", "tiny-6-1", "-o", str(student)]
    sizes = ["num_encoder_layers=2", "num_decoder_layers=1", "d_model=16", "d_ff=24", "num_heads=2"]
    length = ["--set=training.updates=2", "--set=training.validate_every=2"]
    assert main([*order, *length, *(f"--set=model.{size}" for size in sizes)]) == 0

    assert f'layers_from = "{both}"' in (student / "recipe.toml").read_text(encoding="utf-8")
    assert Translator(student)("one two")
    sources = [line.split("\t")[0] for line in sentences(100, 103)]
    behind = trainings_behind(ModelDirectory(both))
    assert count_learnt(sources, behind, ("en", "it")) == 3
    card = (both / "README.md").read_text(encoding="utf-8")
    assert "It is an ensemble, so it has learnt from the text of all" in card
    assert "2 models, each with 1 encoder layer and 1 decoder layer" in card
    assert "They decide together, which takes PyTorch: `first`, `second`." in card
