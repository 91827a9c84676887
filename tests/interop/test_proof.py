"""What counts as computing the same: everything but the choice between equally probable tokens."""

import math
from collections.abc import Callable, Sequence

import pytest
import torch

from dragoman.interop.proof import EngineCopy, LoadedModel, Pair, compare
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.tokenizer import SpecialIds


class Swapping:
    """A copy that chooses one token where the model chooses another, and then ends."""

    def __init__(self, model: EngineCopy, one: int, other: int) -> None:
        self.score: Callable[[Sequence[Pair]], list[list[float]]] = model.score
        self.model, self.one, self.other = model, one, other

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        return list(map(self._swapped, self.model.translate(sources)))

    def _swapped(self, translation: list[int]) -> list[int]:
        if self.one not in translation:
            return translation
        return [*translation[: translation.index(self.one)], self.other]


def test_copies_may_choose_either_of_two_tokens_that_are_equally_probable(
    save: Callable[..., ModelDirectory],
) -> None:
    directory = save(tied_embeddings="none", tokenizer="separate", projection_bias=False)
    model = LoadedModel.load(directory.path)
    exact = compare(model, model.in_pytorch)
    (chosen, *_), *_ = model.in_pytorch.translate([[5, 6, 7]])
    weight, unknown = model.transformer.projection.linear.weight, SpecialIds().unk
    twin, stranger = (token for token in (40, 41) if token != chosen)
    with torch.no_grad():
        weight[twin] = weight[chosen]
        weight[stranger] = 0.5 * weight[chosen]
        weight[unknown] = 2 * weight[chosen]  # more probable, but no translation has it

    swapped = Swapping(model.in_pytorch, min(chosen, twin), max(chosen, twin))
    wrong, forbidden = (
        Swapping(model.in_pytorch, min(chosen, twin), other) for other in (stranger, unknown)
    )

    assert exact.num_equal == exact.num_sentences
    assert compare(model, swapped).num_equal == exact.num_sentences
    assert compare(model, wrong).num_equal < exact.num_sentences
    assert not compare(model, wrong).holds
    assert compare(model, forbidden).num_equal < exact.num_sentences


class Shifting:
    """A copy that finds one token more or less probable than the model does."""

    def __init__(self, model: EngineCopy, by: float) -> None:
        self.translate: Callable[[Sequence[Sequence[int]]], list[list[int]]] = model.translate
        self.model, self.by = model, by

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        scores = self.model.score(pairs)
        scores[7][0] += self.by
        return scores


@pytest.mark.parametrize("by", [0.5, -0.5, math.nan])
def test_one_other_probability_among_many_is_seen(
    save: Callable[..., ModelDirectory], by: float
) -> None:
    model = LoadedModel.load(save().path)

    agreement = compare(model, Shifting(model.in_pytorch, by))

    assert agreement.num_equal == agreement.num_sentences
    assert agreement.largest_difference == pytest.approx(abs(by), nan_ok=True)
    assert not agreement.holds


class Sure:
    """A copy that finds all as probable as the model does, but only what it would choose itself."""

    def __init__(self, model: EngineCopy) -> None:
        self.model = model
        self.found: list[list[int]] = []

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        self.found = self.model.translate(sources)
        return self.found

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        scores = self.model.score(pairs)
        for values, (_, translation) in zip(scores, pairs, strict=True):
            if list(translation) not in self.found:
                values[0] -= 0.5
        return scores


def test_another_probability_of_what_no_model_would_choose_is_seen(
    save: Callable[..., ModelDirectory],
) -> None:
    model = LoadedModel.load(save().path)

    assert not compare(model, Sure(model.in_pytorch)).holds
