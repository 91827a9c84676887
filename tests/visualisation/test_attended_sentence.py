"""Tokens and weights belong together, whoever has translated."""

import re

import numpy as np
import pytest
import torch

from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory
from dragoman.visualisation.attended_sentence import HeadMap, attend, head_maps
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

    attended = attend(model, SENTENCE, TRANSLATION)

    assert attended.source == ("the", "cat", "</s>")
    assert attended.read == ("<s>", "il", "gatto", '"')
    assert attended.chosen == ("il", "gatto", '"', "</s>")
    tokenizer = model.load_tokenizers().source
    source = [*tokenizer.encode(SENTENCE), 3]
    target = [2, *tokenizer.encode(TRANSLATION)]
    expected = read_attention(model.load_transformer(), source, target)
    for kind in ("encoder", "decoder", "cross"):
        for mine, other in zip(vars(attended.maps)[kind], vars(expected)[kind], strict=True):
            assert torch.equal(mine, other)


@pytest.mark.parametrize("extra", [2, 40])
def test_the_model_translates_for_itself_and_stops_where_its_search_does(
    extra: int, save: SaveModel
) -> None:
    model = save(search={"beam_size": 1, "max_length_ratio": 0.0, "max_length_extra": extra})
    tokenizer = model.load_tokenizers().source
    expected = greedy(model, [*tokenizer.encode(SENTENCE), 3], extra)

    attended = attend(model, SENTENCE)

    assert list(attended.chosen) == tokenizer.pieces(expected)
    assert list(attended.read) == ["<s>", *tokenizer.pieces(expected[:-1])]
    assert attended.maps.cross[0].shape == (2, len(expected), 3)


def test_the_maps_come_in_the_order_of_kinds_layers_and_heads(save: SaveModel) -> None:
    attended = attend(save(), SENTENCE, TRANSLATION)

    maps = head_maps(attended)

    assert [(m.kind, m.layer, m.head) for m in maps] == [
        *(("encoder", 1, head) for head in (1, 2)),
        *(("decoder", layer, head) for layer in (1, 2, 3) for head in (1, 2)),
        *(("cross", layer, head) for layer in (1, 2, 3) for head in (1, 2)),
    ]
    assert all(m.weights.shape == (len(m.rows), len(m.columns)) for m in maps)


def test_one_map_can_be_chosen(save: SaveModel) -> None:
    attended = attend(save(), SENTENCE, TRANSLATION)

    (chosen,) = head_maps(attended, kinds=["cross"], layer=3, head=2)

    assert isinstance(chosen, HeadMap)
    assert (chosen.rows, chosen.columns) == (attended.chosen, attended.source)
    assert np.array_equal(chosen.weights, attended.maps.cross[2][1].numpy())


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
    attended = attend(save(), SENTENCE, TRANSLATION)

    with pytest.raises(DragomanError, match=re.escape(message)):
        head_maps(attended, **choice)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "translation", "message"),
    [
        (" \n", None, "the sentence is blank; give some words"),
        ("a dog", "", "the translation is blank; give some words"),
        ("a dog the cat", None, r"the sentence has 4 tokens, and .* has seen at most 3"),
        ("a dog", "un cane il gatto", r"the translation has 4 tokens"),
    ],
)
def test_what_the_model_cannot_read_at_once_is_refused(
    sentence: str, translation: str | None, message: str, save: SaveModel
) -> None:
    with pytest.raises(DragomanError, match=message):
        attend(save(max_length=3), sentence, translation)
