"""Mistakes with positions, and the checks that notice them."""

import math
from collections.abc import Callable

import pytest
import torch
from tests.model.mistakes.shared import (
    Build,
    Mistake,
    check_token_by_token_equals_training,
    differ,
)
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.model import positional_encoding
from dragoman.model.positional_encoding import PositionalEncoding, SinusoidTable, sinusoids

D_MODEL, VOCAB, PADDING = 12, 23, 0


def check_positions_are_those_of_section_3_5(build: Build) -> None:
    table = positional_encoding.sinusoids(3, 4)
    assert table[1].tolist() == pytest.approx(
        [math.sin(1), math.cos(1), math.sin(1 / 100), math.cos(1 / 100)]
    )
    assert table[2, 2].item() == pytest.approx(math.sin(2 / 100))


def check_each_convention_has_its_layout(build: Build) -> None:
    paper, marian, tensor2tensor = (
        positional_encoding.sinusoids(3, 6, convention)
        for convention in ("interleaved", "marian", "tensor2tensor")
    )
    assert not differ(marian, torch.cat([paper[:, 0::2], paper[:, 1::2]], dim=1))
    assert tensor2tensor[1, 2].item() == pytest.approx(math.sin(1e-4))


def check_long_sentences_are_read(build: Build) -> None:
    model = build()
    x = model.source_embeddings(torch.randint(4, VOCAB, (1, 260)))
    try:
        encoded = model.positions(x)
    except RuntimeError as error:
        raise AssertionError("a long sentence does not fit") from error
    assert not differ(encoded, x + sinusoids(260, D_MODEL))


def check_positions_are_not_learnt(build: Build) -> None:
    positions = build().positions
    assert not list(positions.parameters())
    assert not positions.state_dict()


def check_odd_widths_are_refused(build: Build) -> None:
    try:
        PositionalEncoding(7)
    except ValueError:
        return
    raise AssertionError("an odd width passed")


def sinusoids_of(angle: Callable[[int, int, int], float]) -> Callable[..., Tensor]:
    """Make a table from the angle of (position, pair, d_model)."""

    def table(num_positions: int, d_model: int, convention: str = "interleaved") -> Tensor:
        return torch.tensor(
            [
                [f(angle(p, i, d_model)) for i in range(d_model // 2) for f in (math.sin, math.cos)]
                for p in range(num_positions)
            ]
        )

    return table


def paper_angle(position: int, pair: int, d_model: int) -> float:
    return position / 10000 ** (2 * pair / d_model)


def even_and_odd_positions(num_positions: int, d_model: int, _: str = "") -> Tensor:
    angles = torch.tensor(
        [[paper_angle(p, i // 2, d_model) for i in range(d_model)] for p in range(num_positions)]
    )
    angles[0::2], angles[1::2] = angles[0::2].sin(), angles[1::2].cos()
    return angles


def cosine_first(num_positions: int, d_model: int, _: str = "") -> Tensor:
    return sinusoids(num_positions, d_model).unflatten(1, (-1, 2)).flip(-1).flatten(1)


def fixed_table(self: PositionalEncoding, x: Tensor, *, first_position: int = 0) -> Tensor:
    return x + self.sinusoids.table[first_position : first_position + x.size(1)]


def sliced_by_width(self: PositionalEncoding, x: Tensor, *, first_position: int = 0) -> Tensor:
    return x + F.pad(self.sinusoids.table[: x.size(2)], (0, 0, 0, x.size(1)))[: x.size(1)]


def always_first_position(
    self: PositionalEncoding, x: Tensor, *, first_position: int = 0
) -> Tensor:
    return x + self.sinusoids.table[: x.size(1)]


def learnt_table(self: SinusoidTable, width: int, convention: str) -> None:
    nn.Module.__init__(self)
    self.table = nn.Parameter(sinusoids(256, width))


MISTAKES: list[Mistake] = [
    (
        "guide 001:97-107, pos / 10 for pos / 100",
        positional_encoding,
        "sinusoids",
        sinusoids_of(lambda p, i, d: p / 10**i),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 002:31, even positions for even dimensions",
        positional_encoding,
        "sinusoids",
        even_and_odd_positions,
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 003:42, the same",
        positional_encoding,
        "sinusoids",
        even_and_odd_positions,
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 002:50-53, product for quotient",
        positional_encoding,
        "sinusoids",
        sinusoids_of(lambda p, i, d: p * 10000 ** (2 * i / d)),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guides 000:62 and 002:72, the reciprocal",
        positional_encoding,
        "sinusoids",
        sinusoids_of(lambda p, i, d: p / 10000 ** (-2 * i / d)),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 004:77-78, precedence of the exponent",
        positional_encoding,
        "sinusoids",
        sinusoids_of(lambda p, i, d: p / 10000**2 * i / d),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 001:87, i up to d_model - 1",
        positional_encoding,
        "sinusoids",
        sinusoids_of(lambda p, i, d: p / 10000 ** (4 * i / d)),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "guide 004:98, cosine where sine belongs",
        positional_encoding,
        "sinusoids",
        cosine_first,
        check_positions_are_those_of_section_3_5,
    ),
    (
        "Marian's layout under the paper's name",
        positional_encoding,
        "sinusoids",
        lambda n, d, c="": sinusoids(n, d, "marian"),
        check_positions_are_those_of_section_3_5,
    ),
    (
        "the paper's layout under Marian's name",
        positional_encoding,
        "sinusoids",
        lambda n, d, c="": sinusoids(n, d),
        check_each_convention_has_its_layout,
    ),
    (
        "Tensor2Tensor's exponent under Marian's name",
        positional_encoding,
        "sinusoids",
        lambda n, d, c="": sinusoids(n, d, c if c == "interleaved" else "tensor2tensor"),
        check_each_convention_has_its_layout,
    ),
    (
        "guides 000:44 and 001:92, a longest sentence",
        PositionalEncoding,
        "forward",
        fixed_table,
        check_long_sentences_are_read,
    ),
    (
        "hkproj translate.py:39-46, sliced by the width",
        PositionalEncoding,
        "forward",
        sliced_by_width,
        check_long_sentences_are_read,
    ),
    (
        "guide 000:82-89, the table is a parameter",
        SinusoidTable,
        "__init__",
        learnt_table,
        check_positions_are_not_learnt,
    ),
    (
        "guides 000:68-77 and 003:33, odd widths",
        positional_encoding,
        "sinusoids",
        sinusoids_of(paper_angle),
        check_odd_widths_are_refused,
    ),
    (
        "every decoded token at position 0",
        PositionalEncoding,
        "forward",
        always_first_position,
        check_token_by_token_equals_training,
    ),
]
