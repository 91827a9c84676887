"""An imported model is trained further, from the loss that it has where it comes from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from dragoman.config import to_table
from dragoman.finetuning.recipe import (
    RATE_OF_IMPORT_TIMES_WIDTH,
    FineTuning,
    finetuning_recipe,
)
from dragoman.interop.marian import convert_marian
from dragoman.model_directory import ModelDirectory, update_description
from dragoman.pipeline.run import train_model
from dragoman.training.display import Display
from dragoman.training.journal import read_journal
from dragoman.training.objective import Loss, Objective
from dragoman.translator import Translator

from .conftest import ENGLISH, ITALIAN

IGNORED = -100  # the label that Hugging Face's loss leaves out


@pytest.fixture
def imported(save_marian: Callable[..., Any], tmp_path: Path) -> tuple[Any, ModelDirectory]:
    theirs = save_marian(dropout=0.0)
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))
    return theirs, ModelDirectory(tmp_path / "imported")


def test_the_loss_is_that_of_transformers(imported: tuple[Any, ModelDirectory]) -> None:
    theirs, model = imported
    special = model.description.special_ids
    assert special.bos == special.pad  # so that the first token of a target looks like padding
    ids = [
        [torch.randint(2, special.pad - 1, (n,)) for n in lengths] for lengths in ((5, 3), (2, 6))
    ]
    source, labels = (
        pad_sequence(
            [torch.cat([row, torch.tensor([special.eos])]) for row in rows],
            batch_first=True,
            padding_value=special.pad,
        )
        for rows in ids
    )
    target = torch.cat([torch.full((2, 1), special.bos), labels], dim=1)
    objective = Objective(Loss(model.load_transformer(), label_smoothing=0.0), dtype=torch.float32)

    ours = objective(source, target)

    expected = theirs(
        input_ids=source,
        attention_mask=(source != special.pad).long(),
        labels=labels.masked_fill(labels == special.pad, IGNORED),
    ).loss
    torch.testing.assert_close(ours / (labels != special.pad).sum(), expected, atol=1e-5, rtol=1e-5)


def order_of(model: ModelDirectory, train: Path, *assignments: str) -> FineTuning:
    return FineTuning(
        model=model.path,
        pairs=(str(train),),
        epochs=20.0,
        directory=Path("run"),
        assignments=assignments,
    )


def test_the_rate_and_the_search_are_those_of_imports_each_time(
    imported: tuple[Any, ModelDirectory], tmp_path: Path
) -> None:
    _, model = imported
    train = tmp_path / "train.tsv"
    lines = (f"{en}\t{it}\n" for en, it in zip(ENGLISH, ITALIAN, strict=True))
    train.write_text("".join(lines), encoding="utf-8")

    order = order_of(model, train)
    first, _ = finetuning_recipe(order)
    update_description(model.path, training={"recipe": to_table(first)})
    second, _ = finetuning_recipe(order)

    width = model.description.model.d_model
    assert first.training.learning_rate == RATE_OF_IMPORT_TIMES_WIDTH / width
    assert second.training.learning_rate == first.training.learning_rate
    assert second.search == first.search == model.search


@pytest.mark.slow
def test_it_learns_and_keeps_its_vocabulary(
    imported: tuple[Any, ModelDirectory], tmp_path: Path
) -> None:
    _, model = imported
    train, validation = tmp_path / "train.tsv", tmp_path / "validation.tsv"
    lines = [f"{en}\t{it}\n" for en, it in zip(ENGLISH, ITALIAN, strict=True)]
    train.write_text("".join(lines) * 20, encoding="utf-8")
    validation.write_text("".join(lines), encoding="utf-8")
    settings = (
        "training.learning_rate=1e-2",
        "training.search_every=100",
        "training.device=cpu",
        f'corpora.validation=[{{path="{validation}"}}]',
        "corpora.overlap=allow",
        "cleaning.drop_duplicates=false",
    )
    recipe, _ = finetuning_recipe(order_of(model, train, *settings))

    assert train_model(recipe, tmp_path / "run", Display()) is None

    losses = [
        event["loss"]
        for event in read_journal(tmp_path / "run" / "journal.jsonl")
        if event["event"] == "validation"
    ]
    assert losses[-1] < losses[0] - 0.3
    description = ModelDirectory(tmp_path / "run").description
    assert description.tokenizer == model.description.tokenizer
    assert len(Translator(tmp_path / "run", device="cpu")(ENGLISH)) == len(ENGLISH)
