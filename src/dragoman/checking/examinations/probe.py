"""Gives a part something to work on, whatever part it is."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.checking.arguments import DECODER, ENCODER, RESIDUAL
from dragoman.checking.calls import attend, call
from dragoman.checking.convention import USUAL
from dragoman.checking.examinations.check import random, tokens
from dragoman.checking.examinations.masks import future_mask
from dragoman.checking.examinations.whole import run_transformer
from dragoman.checking.workshop import SIZES, Workshop

S, T = 7, 5
"""Lengths of source and target."""

ALL = slice(None)


def run(workshop: Workshop, part: str, **changes: Any) -> tuple[Any, Tensor]:
    """Build a part and give it two sentences."""
    module = workshop.build(part, **changes)
    return module, give(workshop, part, module)


def give(workshop: Workshop, part: str, module: Any, rows: slice = ALL) -> Tensor:
    """Give a part some of two sentences; a mask hides nothing, or the future for a decoder."""
    return _GIVEN.get(part, _states)(workshop, module, rows)


def _x(rows: slice) -> Tensor:
    return random(2, T, SIZES.d_model)[rows]


def _states(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    return call(module, {}, {"states": _x(rows)})


def _words(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    return call(module, {}, {"tokens": tokens(2, T, SIZES.source_vocab)[rows]})


def _length(workshop: Workshop, function: Any, rows: slice) -> Tensor:
    return future_mask(function, T)


def _sequence(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    return attend(module, _x(rows), _x(rows), _x(rows))


def _sublayer(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    return call(module, RESIDUAL, {"states": _x(rows), "sublayer": torch.sin})


def _source(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    x = _x(rows)
    mask = torch.ones(x.size(0), 1, T, dtype=torch.bool)
    told = (workshop.known_convention or USUAL).mask(mask)
    return call(module, ENCODER, {"states": x, "mask": told})


def _source_and_target(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    """Give a decoder a source of another length or, if it cannot have that, of the same.

    An examination of its own says what is wrong then.
    """
    convention = workshop.known_convention or USUAL
    x = _x(rows)
    target_mask = convention.mask(torch.ones(x.size(0), T, T, dtype=torch.bool).tril())

    def look_at(memory: Tensor) -> Tensor:
        mask = torch.ones(x.size(0), 1, memory.size(1), dtype=torch.bool)
        given = {"states": x, "memory": memory, "source_mask": convention.mask(mask)}
        return call(module, DECODER, {**given, "target_mask": target_mask})

    memory = random(2, S, SIZES.d_model, seed=2)[rows]
    try:
        return look_at(memory)
    except RuntimeError:
        return look_at(memory[:, :T])


def _sentences(workshop: Workshop, module: Any, rows: slice) -> Tensor:
    source, target = tokens(2, S, SIZES.source_vocab), tokens(2, T, SIZES.target_vocab)
    return run_transformer(workshop, module, source[rows], target[rows])


_GIVEN: dict[str, Callable[[Workshop, Any, slice], Tensor]] = {
    "InputEmbeddings": _words,
    "causal_mask": _length,
    "MultiHeadAttention": _sequence,
    "ResidualConnection": _sublayer,
    "EncoderBlock": _source,
    "Encoder": _source,
    "DecoderBlock": _source_and_target,
    "Decoder": _source_and_target,
    "Transformer": _sentences,
}
