"""The mean of models: exact, of what belongs together, and honest about where it comes from."""

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.cli import main
from dragoman.config import to_table
from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.learnt import count_learnt
from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.errors import DragomanError
from dragoman.interop.staging import OutputError
from dragoman.model_directory import AlignmentDescription, ModelDirectory, update_description
from dragoman.model_directory.description import ShortlistDescription
from dragoman.model_directory.lineage import trainings_behind
from dragoman.pipeline.averaging import average_models
from dragoman.pipeline.ensemble import make_ensemble
from dragoman.pipeline.run import train_model
from dragoman.recipe import recorded_recipe
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers
from dragoman.training.averaging import weights_of
from dragoman.translator import Translator

from .conftest import Listener, MakeRecipe, sentences, write_lines

MakeModel = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Make models that are alike, unless their seeds differ or they have gone far."""
    config = TokenizerConfig(kind="words", min_frequency=1)

    def make(
        name: str, *, gone: float = 0.0, seed: int = 1, words: str = "il cane", **changes: Any
    ) -> Path:
        pair = train_tokenizers(config, lambda: iter([("the dog", words)]), tmp_path / words)
        torch.manual_seed(seed)
        sizes = {key: changes.pop(key) for key in ("d_ff", "dropout") if key in changes}
        transformer = untrained(pair, **sizes)
        torch.manual_seed(seed + 1)
        with torch.no_grad():
            for parameter in transformer.parameters():
                parameter.add_(gone * torch.randn_like(parameter))
        return save_transformer(tmp_path / name, transformer, pair, config, **changes).path

    return make


def weights(model: Path) -> dict[str, torch.Tensor]:
    return weights_of(ModelDirectory(model).load_transformer())


def test_each_weight_is_the_mean_by_shares(make_model: MakeModel, tmp_path: Path) -> None:
    models = [make_model("a"), make_model("b", gone=0.02), make_model("c", gone=0.05)]

    parts = average_models(models, tmp_path / "mean", [2, 1, 1])

    a, b, c = map(weights, models)
    expected = {
        name: (0.5 * a[name].double() + 0.25 * b[name].double() + 0.25 * c[name].double()).float()
        for name in a
    }
    torch.testing.assert_close(weights(tmp_path / "mean"), expected, rtol=0, atol=0)
    assert [part.share for part in parts] == [0.5, 0.25, 0.25]
    assert parts[0].likeness == pytest.approx(1)
    assert 1 > parts[1].likeness > parts[2].likeness > 0.9


def test_without_shares_all_models_count_alike(make_model: MakeModel, tmp_path: Path) -> None:
    a, b = make_model("a", dropout=0.1), make_model("b", gone=0.02, dropout=0.3)

    average_models([a, b], tmp_path / "mean")

    one, other = weights(a), weights(b)
    mean = {name: (one[name].double() / 2 + other[name].double() / 2).float() for name in one}
    torch.testing.assert_close(weights(tmp_path / "mean"), mean, rtol=0, atol=0)


def test_what_belongs_to_other_weights_is_left_out(make_model: MakeModel, tmp_path: Path) -> None:
    a, b = make_model("a", max_length=20), make_model("b", gone=0.02, max_length=10)
    update_description(
        a,
        alignment=AlignmentDescription(layer=1, agreement=1, text="t", pairs=1),
        shortlist=ShortlistDescription(
            sha256="0" * 64, text="t", pairs=1, coverage=1, mean_length=1
        ),
    )

    average_models([a, b], tmp_path / "mean")

    description = ModelDirectory(tmp_path / "mean").description
    assert (description.alignment, description.shortlist) == (None, None)
    assert description.max_length == 10
    assert [part["model"] for part in description.training["models"]] == [str(a), str(b)]
    assert not (tmp_path / "mean" / "README.md").exists()  # nothing is known of the text


@pytest.mark.parametrize(
    ("other", "objection"),
    [
        ({}, "it has the same weights as"),
        ({"gone": 0.02, "target_language": "de"}, "it translates en to de, not en to it;"),
        ({"gone": 0.02, "words": "il gatto"}, "it has another vocabulary than"),
        ({"gone": 0.02, "d_ff": 16}, "it has other sizes than .* (model.d_ff: .*12.*16"),
        ({"seed": 5}, "its layers have nothing in common with those of .* (cosine -?0\\.[01]"),
    ],
)
def test_models_without_a_useful_mean_are_refused(
    make_model: MakeModel, tmp_path: Path, other: dict[str, Any], objection: str
) -> None:
    models = [make_model("a"), make_model("b", **other)]

    with pytest.raises(DragomanError, match=objection.replace("(", "\\(")) as error:
        average_models(models, tmp_path / "mean")

    assert str(error.value).startswith(str(models[1]))
    assert not (tmp_path / "mean").exists()


@pytest.mark.parametrize(
    "shares", [[1], [1, 2, 3], [1, 0], [1, -1], [1, float("nan")], [1e-308, 1e308]]
)
def test_shares_that_make_no_mean_are_refused(
    make_model: MakeModel, tmp_path: Path, shares: list[float]
) -> None:
    models = [make_model("a"), make_model("b", gone=0.02)]

    with pytest.raises(DragomanError, match="give each of the 2 models a positive share"):
        average_models(models, tmp_path / "mean", shares)


def test_large_shares_are_shares(make_model: MakeModel, tmp_path: Path) -> None:
    models = [make_model("a"), make_model("b", gone=0.02)]

    parts = average_models(models, tmp_path / "mean", [1e308, 1e308])

    assert [part.share for part in parts] == [0.5, 0.5]


def test_the_same_weights_are_found_wherever_they_stand(
    make_model: MakeModel, tmp_path: Path
) -> None:
    models = [make_model("a"), make_model("b", gone=0.02), make_model("c", gone=0.02)]

    with pytest.raises(DragomanError, match=r"c: it has the same weights as .*b; leave one out"):
        average_models(models, tmp_path / "mean")


def test_an_earlier_model_is_not_replaced(make_model: MakeModel, tmp_path: Path) -> None:
    models = [make_model("a"), make_model("b", gone=0.02)]

    with pytest.raises(OutputError, match="exists already"):
        average_models(models, models[0])


@pytest.mark.slow
def test_a_mean_knows_the_text_of_all_its_models(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, mean = (tmp_path / name for name in ("first", "second", "mean"))
    train_model(make_recipe(licence="CC-BY 4.0"), first, display)
    other = write_lines(tmp_path / "text" / "other.tsv", sentences(300, 340))
    recipe = make_recipe(
        licence="MIT",
        training__from_model=str(first),
        tokenizer={"kind": "words", "from_model": str(first)},
        corpora__train=[{"path": other}],
    )
    train_model(recipe, second, display)
    capsys.readouterr()

    shares = ["--share", "1", "--share", "3"]
    assert main(["average", str(first), str(second), *shares, "-o", str(mean)]) == 0

    said = capsys.readouterr().out
    assert re.search(r" 25% of .*first\n +75% of .*second \(.*, cosine [01]\.\d\d\)\n", said)
    assert f"dragoman evaluate {mean} PAIRS --compare {first}" in said
    training = ModelDirectory(mean).description.training
    sources = [line.split("\t")[0] for line in (*sentences(100, 103), *sentences(300, 302))]
    behind = [*trainings_behind(ModelDirectory(mean)), *trainings_behind(ModelDirectory(second))]
    assert [count_learnt(sources, [part], ("en", "it")) for part in behind] == [5, 3, 2, 3]
    assert [part["model"] for part in behind] == list(map(str, (mean, first, second, first)))
    assert training["scores"] == {}
    recorded = recorded_recipe(ModelDirectory(mean))
    assert recorded is not None
    assert [corpus.name for corpus in recorded.corpora.train] == ["train", "other"]
    card = (mean / "README.md").read_text(encoding="utf-8")
    assert "mean of those of several models: 25% of `first`, 75% of `second`" in card
    assert "| train | 1 | 50 |" in card
    assert "| other | 1 | 40 |" in card
    assert "Licence of the text: CC-BY 4.0; MIT." in card
    assert "checkpoints/" not in card
    assert Translator(mean)("one two")
    assert main(["inspect", str(mean)]) == 0
    assert f"   75%  {ModelDirectory(second).description.weights_sha256}  {second}" in (
        capsys.readouterr().out
    )


@pytest.fixture
def trained(make_recipe: MakeRecipe, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write what is recorded of a training of this text."""

    def record(train: list[dict[str, Any]], licence: str = "MIT", **corpora: Any) -> dict[str, Any]:
        recipe = to_table(make_recipe(licence=licence))
        files = [path for corpus in train for path in corpus.values() if isinstance(path, str)]
        recipe["corpora"] |= {"train": train, **corpora}
        sha256 = {path: fingerprint_file(Path(path)) for path in files}
        return {"recipe": recipe, "corpora": [], "sha256": sha256, "scores": {"t": {}}}

    return record


@pytest.mark.parametrize(("licences", "expected"), [(["MIT", "MIT"], "MIT"), (["MIT", ""], "")])
def test_a_mean_has_a_licence_if_all_its_text_has(
    make_model: MakeModel,
    trained: Callable[..., dict[str, Any]],
    tmp_path: Path,
    licences: list[str],
    expected: str,
) -> None:
    text = write_lines(tmp_path / "a.tsv", sentences(100, 103))
    first, second = (trained([{"path": text}], licence) for licence in licences)
    models = [
        make_model("a", training=first),
        make_model("b", gone=0.02, training=second),
        make_model("imported", gone=0.03),
    ]

    average_models(models[:2], tmp_path / "known")
    average_models(models, tmp_path / "partly")

    known, partly = (ModelDirectory(tmp_path / name) for name in ("known", "partly"))
    assert known.description.training["recipe"]["licence"] == expected
    assert partly.description.training["recipe"]["licence"] == ""
    card = (partly.path / "README.md").read_text(encoding="utf-8")
    assert "What `imported` learnt from is not known." in card
    make_ensemble([partly.path, models[0]], tmp_path / "together")
    card = (tmp_path / "together" / "README.md").read_text(encoding="utf-8")
    assert "What `imported` learnt from is not known." in card
    assert "is not known" not in (known.path / "README.md").read_text(encoding="utf-8")
    assert known.description.training["scores"] == {}


def test_a_mean_has_learnt_what_one_of_its_models_was_kept_from(
    make_model: MakeModel, trained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    old, new = (
        write_lines(tmp_path / name, sentences(*numbers))
        for name, numbers in (("old.tsv", (100, 110)), ("new.tsv", (200, 220)))
    )
    kept_out = trained([{"path": old}], test=[{"path": new}], overlap="drop")
    kept_out["sha256"][new] = fingerprint_file(Path(new))
    models = [
        make_model("a", training=kept_out),
        make_model("b", gone=0.02, training=trained([{"path": new}])),
        make_model("c", gone=0.03),
    ]

    average_models(models[:2], tmp_path / "mean")
    average_models([tmp_path / "mean", models[2]], tmp_path / "mean of a mean")

    sources = [line.split("\t")[0] for line in sentences(200, 220)]
    first = trainings_behind(ModelDirectory(models[0]))
    assert count_learnt(sources, first, ("en", "it")) == 0
    for name in ("mean", "mean of a mean"):
        mean = trainings_behind(ModelDirectory(tmp_path / name))
        assert count_learnt(sources, mean, ("en", "it")) == 20


def test_text_of_both_models_is_named_once_as_the_first_had_it(
    make_model: MakeModel, trained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    text, source, target = (
        write_lines(tmp_path / name, sentences(100, 103)) for name in ("a.tsv", "a.en", "a.it")
    )
    plain = [{"source": source, "target": target}, {"source": target, "target": source}]
    first = trained([{"path": text, "weight": 2.0}, *plain])
    second = trained([{"path": text, "weight": 0.1, "hold_out": False}, *plain])
    first["corpora"] = second["corpora"] = [asdict(CorpusSummary("a", 2.0, 3, 3, {}, 0))]
    models = [make_model("a", training=first), make_model("b", gone=0.02, training=second)]

    average_models(models, tmp_path / "mean")

    training = ModelDirectory(tmp_path / "mean").description.training
    assert training["recipe"]["corpora"]["train"] == first["recipe"]["corpora"]["train"]
    assert training["corpora"] == first["corpora"]


def test_a_card_says_of_each_model_what_became_of_evaluation_sentences(
    make_model: MakeModel, trained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    text = write_lines(tmp_path / "a.tsv", sentences(100, 103))
    first = trained([{"path": text}], overlap="drop")
    second = trained([{"path": text}], overlap="allow")
    first["corpora"] = [asdict(CorpusSummary("news", 1.0, 3, 2, {}, 1))]
    second["corpora"] = [asdict(CorpusSummary("news", 1.0, 3, 3, {}, 1))]
    models = [
        make_model("a", training=first),
        make_model("b", gone=0.02, training=second),
        make_model("imported", gone=0.03),
    ]

    average_models(models, tmp_path / "mean")

    card = (tmp_path / "mean" / "README.md").read_text(encoding="utf-8")
    assert "| news | 1 | 3 | 2 | 1 evaluation sentence left out |" in card
    assert "| news | 1 | 3 | 3 | 1 evaluation sentence kept |" in card
