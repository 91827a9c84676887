"""Tokens and weights belong together, whoever has translated."""

import re

import numpy as np
import pytest
import torch

from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory
from dragoman.visualisation.attended_sentence import attend, choose
from dragoman.visualisation.attention_maps import read_attention

from .conftest import SaveModel

SENTENCE, TRANSLATION = "the cat", 'il gatto "'


def greedy(model: ModelDirectory, source: list[int], length: int) -> list[int]:
    """Take the most probable token again and again, without any of the search's code."""
    special = model.description.special_ids
    transformer, chosen = model.load_transformer(), [special.bos]
    while len(chosen) <= length and chosen[-1] != special.eos:
        with torch.no_grad():
            logits = transformer(torch.tensor([source]), torch.tensor([chosen]))[0, -1]
        logits[[special.pad, special.bos]] = -torch.inf
        chosen.append(int(logits.argmax()))
    return chosen[1:]


def test_a_given_translation_is_followed_token_by_token(save: SaveModel) -> None:
    model = save()

    maps = attend(model, SENTENCE, TRANSLATION)

    source, read = ("the", "cat", "</s>"), ("<s>", "il", "gatto", '"')
    chosen = ("il", "gatto", '"', "</s>")
    assert {(each.kind, each.rows, each.columns) for each in maps} == {
        ("encoder", source, source),
        ("decoder", chosen, read),
        ("cross", chosen, source),
    }
    tokenizer = model.load_tokenizers().source
    given = [*tokenizer.encode(SENTENCE), 3], [2, *tokenizer.encode(TRANSLATION)]
    expected = vars(read_attention(model.load_transformer(), *given))
    for each in maps:
        assert np.array_equal(each.weights, expected[each.kind][each.layer - 1][each.head - 1])


@pytest.mark.parametrize("extra", [2, 40])
def test_the_model_translates_for_itself_and_stops_where_its_search_does(
    extra: int, save: SaveModel
) -> None:
    model = save(search={"beam_size": 1, "max_length_ratio": 0.0, "max_length_extra": extra})
    tokenizer = model.load_tokenizers().source
    expected = greedy(model, [*tokenizer.encode(SENTENCE), 3], extra)

    of_decoder, cross = (
        choose(attend(model, SENTENCE), kinds=[kind])[0] for kind in ("decoder", "cross")
    )

    assert list(cross.rows) == tokenizer.pieces(expected)
    assert list(of_decoder.columns) == ["<s>", *tokenizer.pieces(expected[:-1])]
    assert cross.weights.shape == (len(expected), 3)


def test_the_maps_come_in_the_order_of_kinds_layers_and_heads(save: SaveModel) -> None:
    maps = attend(save(), SENTENCE, TRANSLATION)

    assert [(m.kind, m.layer, m.head) for m in maps] == [
        *(("encoder", 1, head) for head in (1, 2)),
        *(("decoder", layer, head) for layer in (1, 2, 3) for head in (1, 2)),
        *(("cross", layer, head) for layer in (1, 2, 3) for head in (1, 2)),
    ]
    assert all(m.weights.shape == (len(m.rows), len(m.columns)) for m in maps)


def test_one_map_can_be_chosen(save: SaveModel) -> None:
    (chosen,) = choose(attend(save(), SENTENCE, TRANSLATION), kinds=["cross"], layer=3, head=2)

    assert (chosen.kind, chosen.layer, chosen.head) == ("cross", 3, 2)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"layer": 2}, "--layer 2: the encoder's self-attention has layers 1 to 1"),
        ({"head": 0}, "--head 0: the encoder's self-attention has heads 1 to 2"),
        ({"kinds": ["cross"], "layer": 4}, "--layer 4: cross-attention has layers 1 to 3"),
    ],
)
def test_what_the_model_does_not_have_cannot_be_chosen(
    choice: dict[str, int], message: str, save: SaveModel
) -> None:
    maps = attend(save(), SENTENCE, TRANSLATION)

    with pytest.raises(DragomanError, match=re.escape(message)):
        choose(maps, **choice)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "translation", "message"),
    [
        (" \n", None, "the sentence is blank; give some words"),
        ("a dog", "", "the translation is blank; give some words"),
        ("a dog the cat", None, "the sentence has 4 tokens and the model has seen at most 3"),
        ("a dog", "un cane il gatto", r"the translation has 4 tokens"),
    ],
)
def test_what_the_model_cannot_read_at_once_is_refused(
    sentence: str, translation: str | None, message: str, save: SaveModel
) -> None:
    with pytest.raises(DragomanError, match=message):
        attend(save(max_length=3), sentence, translation)
