"""Gives any part something to work on."""

import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor

from dragoman.checking.arguments import DECODER, ENCODER, NotCheckableError
from dragoman.checking.calls import attend, call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.convention import REFUSED, Convention, conventions
from dragoman.checking.examinations.check import S, T, random, tokens
from dragoman.checking.examinations.masks import future_mask
from dragoman.checking.examinations.residual import connect
from dragoman.checking.examinations.whole import run_transformer

Given = Callable[[Workshop, Any, Tensor], Tensor]
"""Gives a part vectors or words; (sentences, T, ...)."""


def run(workshop: Workshop, part: str, **changes: Any) -> tuple[Any, Tensor]:
    """Build a part and give it two sentences."""
    module = workshop.build(part, **changes)
    return module, give(workshop, part, module)


def give(workshop: Workshop, part: str, module: Any, sentences: int = 2) -> Tensor:
    """Give a part one or two sentences; a mask hides nothing, or a decoder's future."""
    x = random(2, T, SIZES.d_model)[:sentences]
    words = tokens(2, T, SIZES.source_vocab)[:sentences]
    look = _GIVEN.get(part, _states)
    try:
        return look(workshop, module, words if part == "InputEmbeddings" else x)
    except REFUSED as error:
        if part == "PositionalEncoding":  # may ask for a length
            with suppress(*REFUSED, AttributeError):
                return call(module, {}, {"length": T})
        if part in _OF_VECTORS and _reads_words(look, workshop, module, words, error):
            if part == "PositionalEncoding":  # may ask for words to count them
                return look(workshop, module, words)
            raise NotCheckableError(
                "it takes words, not vectors, and is looked at where a whole model has it"
            ) from None
        raise


def _reads_words(
    look: Given, workshop: Workshop, module: Any, words: Tensor, error: Exception
) -> bool:
    """Tell whether a part that stops at vectors looks them up itself.

    If it stops at words further on, that is raised: the other error is not the learner's.
    """
    if "'indices'" in str(error):  # of an embedding, which got vectors
        return True
    try:
        look(workshop, module, words)
    except REFUSED as of_words:
        if _depth(of_words) > _depth(error):
            raise of_words from None
        return False
    return True


def _depth(error: Exception) -> int:
    """Count the calls that an error came through."""
    return len([*traceback.walk_tb(error.__traceback__)])


def _states(workshop: Workshop, module: Any, x: Tensor) -> Tensor:
    return call(module, {}, {"states": x})


def _source(workshop: Workshop, module: Any, x: Tensor) -> Tensor:
    def attend_to(queries: int, convention: Convention) -> Tensor:
        mask = torch.ones(x.size(0), queries, T, dtype=torch.bool)
        return call(module, ENCODER, {"states": x, "mask": convention.mask(mask)})

    return _with_masks(workshop, attend_to)


def _with_masks(workshop: Workshop, look: Callable[[int, Convention], Tensor]) -> Tensor:
    """Call a block with masks that it takes; the learner's own attention has shown which.

    Args:
        workshop: Knows what was found out about masks.
        look: Calls it with masks for a number of queries in a convention.
    """
    try:
        output = look(1, workshop.accepted_convention)
        if output.isnan().any():  # if no convention is known, because all may be hidden
            _ = workshop.convention
        return output
    except REFUSED:
        if "MultiHeadAttention" in workshop.found:
            raise
        known = workshop.accepted_convention
        for convention, queries in product((known, *conventions()), (1, T)):
            with suppress(*REFUSED, NotCheckableError):  # of masks of keys, where queries differ
                output = look(queries, convention)
                if output.isfinite().all():  # else it was all hidden
                    return output
        raise


def _source_and_target(workshop: Workshop, module: Any, x: Tensor) -> Tensor:
    """Give a decoder a source of another length or, if it cannot have that, of the same.

    Another examination says what is wrong then.
    """
    past = torch.ones(x.size(0), T, T, dtype=torch.bool).tril()

    def look_at(memory: Tensor, queries: int, convention: Convention) -> Tensor:
        mask = torch.ones(x.size(0), queries, memory.size(1), dtype=torch.bool)
        masks = {"source_mask": convention.mask(mask), "target_mask": convention.mask(past)}
        return call(module, DECODER, {"states": x, "memory": memory, **masks})

    memory = random(2, S, SIZES.d_model, seed=2)[: x.size(0)]
    try:
        return _with_masks(workshop, partial(look_at, memory))
    except RuntimeError:
        return _with_masks(workshop, partial(look_at, memory[:, :T]))


def _sentences(workshop: Workshop, module: Any, x: Tensor) -> Tensor:
    source, target = tokens(2, S, SIZES.source_vocab), tokens(2, T, SIZES.target_vocab)
    return run_transformer(workshop, module, source[: x.size(0)], target[: x.size(0)])


_OF_VECTORS = {"PositionalEncoding", "Encoder", "Decoder"}
"""Given vectors, though some take words."""

_GIVEN: dict[str, Given] = {
    "causal_mask": lambda workshop, function, x: future_mask(function, T),
    "MultiHeadAttention": lambda workshop, module, x: attend(module, x, x, x),
    "ResidualConnection": lambda workshop, module, x: connect(module, x, torch.sin),
    "EncoderBlock": _source,
    "Encoder": _source,
    "DecoderBlock": _source_and_target,
    "Decoder": _source_and_target,
    "Transformer": _sentences,
}
