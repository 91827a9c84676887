"""Which dimension is that of the sentences; only parts that have it first are examined."""

from contextlib import suppress

import torch
from torch import nn

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import attend
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import random, same

LENGTH_FIRST = (
    "it reads (length, batch, d_model), as PyTorch does where batch_first is not said, and only "
    "(batch, length, d_model) is examined"
)

_WITH_ATTENTION = {
    *("MultiHeadAttention", "EncoderBlock", "Encoder", "DecoderBlock", "Decoder", "Transformer")
}


def reads_length_first(workshop: Workshop, part: str) -> bool:
    """Tell whether a part, or the attention of its program, has sentences in another dimension."""
    if part not in _WITH_ATTENTION:
        return False
    with suppress(Exception):  # what fails here is reported where the part is examined
        for layer in workshop.build(part).modules():
            if isinstance(layer, nn.MultiheadAttention) and not layer.batch_first:
                return True
    if "MultiHeadAttention" not in workshop.found:
        return False
    with suppress(Exception):
        return _is_length_first(workshop.build("MultiHeadAttention"))
    return False


def _is_length_first(attention: nn.Module) -> bool:
    """Leave out one of two sentences, along either dimension, and see where it matters."""
    x = random(2, 5, SIZES.d_model)
    with torch.no_grad():
        together = attend(attention, x, x, x)
        first_row, first_column = x[:1], x[:, :1]
        rows_alone = attend(attention, first_row, first_row, first_row)
        columns_alone = attend(attention, first_column, first_column, first_column)
    return not same(rows_alone, together[:1]) and same(columns_alone, together[:, :1])


def refuse_length_first(workshop: Workshop, part: str) -> None:
    """Leave alone a part that is right in its own layout.

    Raises:
        NotCheckableError: it reads the length first.
    """
    if reads_length_first(workshop, part):
        raise NotCheckableError(LENGTH_FIRST)
