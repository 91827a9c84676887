"""What is published is the best candidate, with a card that other programs can read."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file

from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.model_directory import ModelDescription, ModelDirectory
from dragoman.pipeline.model_card import model_card
from dragoman.pipeline.publication import Publisher
from dragoman.pipeline.run import _prepare_text
from dragoman.pipeline.validation import Validator
from dragoman.recipe import Recipe
from dragoman.training.averaging import Weights, weights_of
from dragoman.training.loop import Trainer
from dragoman.training.objective import for_validation
from dragoman.training.progress import Progress
from dragoman.training.validation import Validation

from .conftest import Listener, MakeRecipe
from .test_validation import build

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def stand_in(
    objective: Any, validator: Validator, candidates: list[tuple[str, Weights]]
) -> Trainer:
    """Give only what publication asks of a trainer."""

    def validate_weights(weights: Weights) -> Validation:
        return validator(for_validation(objective, weights), True)

    def iterate() -> Iterator[tuple[str, Weights]]:
        yield from candidates

    return cast(
        Trainer,
        SimpleNamespace(
            validate_weights=validate_weights,
            progress=Progress(update=3),
            candidates=iterate,
        ),
    )


@pytest.mark.parametrize("better_first", [True, False])
def test_the_better_candidate_is_published(
    better_first: bool, make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe()
    validator, objective = build(recipe, tmp_path)
    named = dict(objective.transformer.named_parameters())
    better = {name: torch.zeros_like(p) for name, p in named.items()}  # every token as probable
    worse = {name: 50 * torch.randn_like(p) for name, p in named.items()}  # sure, and wrong
    candidates = [("better", better), ("worse", worse)]
    publisher = Publisher(recipe, _prepare_text(recipe, tmp_path, display), tmp_path / "model")

    ordered = candidates if better_first else candidates[::-1]
    publisher.finish(stand_in(objective, validator, ordered), display)

    training = ModelDirectory(tmp_path / "model").description.training
    assert (training["weights"], training["updates"]) == ("better", 3)
    published = load_file(tmp_path / "model" / "model.safetensors")
    assert all(not tensor.any() for tensor in published.values())


def test_the_metric_of_the_recipe_chooses_the_candidate(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe(training__metric="BLEU")
    _, objective = build(recipe, tmp_path)
    weights = dict(objective.transformer.named_parameters())
    scores = [{"loss": 1.0, "BLEU": 2.0}, {"loss": 3.0, "BLEU": 4.0}]
    judged = map(Validation, scores)
    trainer = SimpleNamespace(
        validate_weights=lambda _: next(judged),
        progress=Progress(),
        candidates=lambda: iter([("surer", weights), ("better", weights)]),
    )
    publisher = Publisher(recipe, _prepare_text(recipe, tmp_path, display), tmp_path / "model")

    publisher.finish(cast(Trainer, trainer), display)

    assert ModelDirectory(tmp_path / "model").description.training["weights"] == "better"


def test_a_published_model_searches_as_its_recipe_says(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe(search__length_penalty=0.9, search__beam_size=3)
    _, objective = build(recipe, tmp_path)
    publisher = Publisher(recipe, _prepare_text(recipe, tmp_path, display), tmp_path / "model")

    publisher.publish(dict(objective.transformer.named_parameters()), Progress())

    search = ModelDirectory(tmp_path / "model").search
    assert (search.length_penalty, search.beam_size) == (0.9, 3)


@pytest.fixture
def published(make_recipe: MakeRecipe, tmp_path: Path, display: Listener) -> Path:
    """Publish a model that was never trained, with scores."""
    recipe = make_recipe(source_language="no", licence="CC-BY-4.0: see below")
    _, objective = build(make_recipe(), tmp_path)
    publisher = Publisher(recipe, _prepare_text(make_recipe(), tmp_path, display), tmp_path / "m")
    scores = {"a|b": {"BLEU": {"score": 12.5, "low": 11.0, "high": 13.0, "signature": SIGNATURE}}}
    publisher.publish(dict(objective.transformer.named_parameters()), Progress(), scores=scores)
    return tmp_path / "m"


def front_matter(card: str) -> list[str]:
    begin, matter, _ = card.split("---\n", 2)
    assert begin == ""
    return matter.rstrip("\n").split("\n")


def test_the_front_matter_is_yaml_of_texts(published: Path) -> None:
    lines = front_matter((published / "README.md").read_text(encoding="utf-8"))

    yaml = pytest.importorskip("yaml")
    matter = yaml.safe_load("\n".join(lines))

    assert matter["language"] == ["no", "it"]
    assert matter["license"] == "CC-BY-4.0: see below"


def test_codes_and_licences_stand_in_quotes(published: Path) -> None:
    lines = front_matter((published / "README.md").read_text(encoding="utf-8"))

    assert {'- "no"', '- "it"', 'license: "CC-BY-4.0: see below"'} <= set(lines)


def test_every_row_of_a_table_has_the_columns_of_its_head(published: Path) -> None:
    card = (published / "README.md").read_text(encoding="utf-8")

    tables = [line for line in card.split("\n") if line.startswith("|")]
    cells = {line.replace(r"\|", "").count("|") for line in tables}
    assert len(tables) == 6
    assert cells == {6}
    assert SIGNATURE.replace("|", r"\|") in card


def test_the_card_says_what_is_private(published: Path) -> None:
    card = (published / "README.md").read_text(encoding="utf-8")

    assert all(f"`{name}`" in card for name in ("data/", "checkpoints/", "journal.jsonl"))


@pytest.mark.parametrize(
    ("policy", "overlap", "note"),
    [
        ("drop", 1, "1 evaluation sentence left out"),
        ("allow", 2, "2 evaluation sentences kept"),
    ],
)
def test_the_card_counts_what_was_not_learnt_from(
    policy: str, overlap: int, note: str, published: Path
) -> None:
    corpus = CorpusSummary("books", 2.0, 9000, 8980, {"duplicate": 15}, overlap, held_out=4)

    card = model_card(with_corpus(published, corpus, policy), "")

    assert (
        f"| books | 2 | 9,000 | 8,980 | 15 duplicate; {note}; 4 held out for validation |" in card
    )


def with_corpus(published: Path, corpus: CorpusSummary, policy: str) -> ModelDescription:
    description = ModelDirectory(published).description
    training = {
        **description.training,
        "corpora": [vars(corpus)],
        "recipe": {"corpora": {"overlap": policy}},
    }
    return replace(description, training=training)


def test_a_recipe_without_licence_says_so(published: Path, make_recipe: MakeRecipe) -> None:
    recipe: Recipe = make_recipe()

    card = model_card(ModelDirectory(published).description, recipe.licence)

    assert "license:" not in card
    assert "Licence of the text: not stated in the recipe." in card


def test_what_a_run_has_taken_is_published(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    recipe = make_recipe()
    _, objective = build(recipe, tmp_path)
    publisher = Publisher(recipe, _prepare_text(recipe, tmp_path, display), tmp_path / "model")
    weights = weights_of(objective.transformer)

    publisher.publish(weights, Progress(update=7, tokens=4321, seconds=90.0))

    description = ModelDirectory(tmp_path / "model").description
    training = description.training
    taken = (training["updates"], training["target_tokens"], training["minutes"])
    assert taken == (7, 4321, 1.5)
    assert training["weights"] == "update 7"
    assert description.max_length == recipe.batching.max_length


def test_the_card_names_the_layers_of_each_stack(published: Path) -> None:
    description = ModelDirectory(published).description
    model = replace(description.model, num_encoder_layers=6, num_decoder_layers=2)

    card = model_card(replace(description, model=model), "")

    assert "6 encoder layers and 2 decoder layers, d_model 16, d_ff 24, 2 heads" in card
