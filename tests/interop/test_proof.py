"""What counts as computing the same: everything but the choice between equally probable tokens."""

from collections.abc import Callable, Sequence

import torch

from dragoman.interop.proof import EngineCopy, LoadedModel, Pair, compare
from dragoman.model_directory import ModelDirectory


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
    weight = model.transformer.projection.linear.weight
    twin, stranger = (token for token in (40, 41) if token != chosen)
    with torch.no_grad():
        weight[twin] = weight[chosen]
        weight[stranger] = 0.5 * weight[chosen]

    swapped = Swapping(model.in_pytorch, min(chosen, twin), max(chosen, twin))
    wrong = Swapping(model.in_pytorch, min(chosen, twin), stranger)

    assert exact.num_equal == exact.num_sentences
    assert compare(model, swapped).num_equal == exact.num_sentences
    assert compare(model, wrong).num_equal < exact.num_sentences
