"""A model may begin with the layers of another one that has more or fewer, and its vocabulary."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.config import to_table
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.pipeline.initial_weights import (
    BeginningError,
    at_the_same_depth,
    check_kind,
    check_sizes,
)
from dragoman.recipe import recipe_from_table
from dragoman.training.averaging import copy_weights, weights_of


def transformer(num_encoder_layers: int, num_decoder_layers: int) -> Transformer:
    return Transformer(
        TransformerConfig(
            d_model=8,
            d_ff=12,
            num_heads=2,
            num_encoder_layers=num_encoder_layers,
            num_decoder_layers=num_decoder_layers,
        ),
        source_vocab_size=9,
        target_vocab_size=9,
        padding_id=0,
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (3, 3, [0, 1, 2]),
        (3, 6, [0, 0, 1, 1, 2, 2]),
        (2, 3, [0, 1, 1]),
        (6, 4, [1, 2, 4, 5]),
        (6, 2, [2, 5]),
        (12, 1, [11]),
    ],
)
def test_each_layer_begins_as_the_last_of_its_share(
    before: int, after: int, expected: list[int]
) -> None:
    theirs, ours = transformer(before, 2), transformer(after, before)

    taken = at_the_same_depth(theirs, ours)

    weights = weights_of(theirs)
    name = "encoder.blocks.{}.feed_forward.narrow.weight"
    assert [
        [
            i
            for i in range(before)
            if torch.equal(weights[name.format(i)], taken[name.format(layer)])
        ]
        for layer in range(after)
    ] == [[number] for number in expected]


def test_every_weight_of_a_model_of_the_same_depth_is_taken() -> None:
    theirs, ours = transformer(2, 3), transformer(2, 3)

    copy_weights(at_the_same_depth(theirs, ours), ours)

    torch.testing.assert_close(weights_of(ours), weights_of(theirs), rtol=0, atol=0)


MODEL = Path("tests/fixtures/release-0.1.0/model")
"""Its vocabulary is unigram."""


@pytest.mark.parametrize("name", ["from_model", "layers_from"])
def test_what_a_run_begins_with_may_have_had_any_dropout_but_no_other_sizes(name: str) -> None:
    theirs = to_table(ModelDirectory(MODEL).description.model)
    rates = {name: 0.45 for name in theirs if name.endswith("dropout")}

    def beginning_with_other(changes: dict[str, Any]) -> Any:
        return recipe_from_table(
            {
                "source_language": "en",
                "target_language": "it",
                "corpora": {"train": [{"path": "a.tsv"}]},
                "model": theirs | changes,
                "training": {name: str(MODEL)},
            }
        )

    check_sizes(beginning_with_other(rates))

    with pytest.raises(BeginningError, match=r"other sizes .* \(model\.d_ff: "):
        check_sizes(beginning_with_other({"d_ff": theirs["d_ff"] + 2}))


def taking_from(model: Path, kind: str) -> Any:
    return recipe_from_table(
        {
            "source_language": "en",
            "target_language": "it",
            "corpora": {"train": [{"path": "a.tsv"}]},
            "tokenizer": {"from_model": str(model), "kind": kind},
        }
    )


def test_a_vocabulary_of_another_kind_is_not_taken_for_what_it_is_not() -> None:
    check_kind(taking_from(MODEL, "unigram"))

    with pytest.raises(
        BeginningError, match=r"'unigram', .* 'bpe'; set tokenizer.kind = \"unigram"
    ):
        check_kind(taking_from(MODEL, "bpe"))


def test_a_directory_with_nothing_but_a_vocabulary_does_not_say_of_which_kind_it_is(
    tmp_path: Path,
) -> None:
    shutil.copy(MODEL / "tokenizer.model", tmp_path)

    check_kind(taking_from(tmp_path, "bpe"))
