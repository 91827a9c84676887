"""Sinusoids: the three conventions, and the module that adds them."""

import math
from inspect import unwrap

import pytest
import torch

from dragoman.model.positional_encoding import (
    Convention,
    Position,
    PositionalEncoding,
    RotaryEncoding,
    SinusoidTable,
    sinusoids,
)
from dragoman.model.rotation import Rotation

POSITIONS, D_MODEL = 11, 8
CONVENTIONS: list[Convention] = ["interleaved", "marian", "tensor2tensor"]


def interleaved(position: int, dimension: int) -> float:
    """PE(pos, 2i) and PE(pos, 2i + 1), section 3.5."""
    angle = position / 10000 ** (2 * (dimension // 2) / D_MODEL)
    return math.sin(angle) if dimension % 2 == 0 else math.cos(angle)


def marian(position: int, dimension: int) -> float:
    """All even dimensions of the paper's, then all odd ones."""
    half = D_MODEL // 2
    pair = dimension % half
    return interleaved(position, 2 * pair if dimension < half else 2 * pair + 1)


def tensor2tensor(position: int, dimension: int) -> float:
    """Geometric from 1 to 1 / 10000, both ends included."""
    half = D_MODEL // 2
    ratio = (1 / 10000) ** (1 / (half - 1))
    angle = position * ratio ** (dimension % half)
    return math.sin(angle) if dimension < half else math.cos(angle)


REFERENCES = {"interleaved": interleaved, "marian": marian, "tensor2tensor": tensor2tensor}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_equals_its_definition_number_by_number(convention: Convention) -> None:
    reference = REFERENCES[convention]
    expected = torch.tensor(
        [[reference(p, dimension) for dimension in range(D_MODEL)] for p in range(POSITIONS)]
    )

    table = sinusoids(POSITIONS, D_MODEL, convention)

    torch.testing.assert_close(table, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_two_dimensions_have_one_wavelength(convention: Convention) -> None:
    angle = torch.arange(POSITIONS)

    expected = torch.stack([angle.sin(), angle.cos()], dim=-1)
    torch.testing.assert_close(sinusoids(POSITIONS, 2, convention), expected)


def test_far_positions_keep_their_digits() -> None:
    angle = 100_000 / 10000 ** (2 / D_MODEL)

    assert sinusoids(100_001, D_MODEL)[-1, 2] == pytest.approx(math.sin(angle), abs=1e-6)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("offset", [1, 3, 7])
def test_a_shift_is_a_rotation_that_does_not_depend_on_the_position(
    convention: Convention, offset: int
) -> None:
    pairs = as_pairs(sinusoids(POSITIONS + offset, D_MODEL, convention), convention)
    origin, shifted = pairs[0], pairs[offset]  # (sin, cos) = (0, 1), and that of the offset
    assert torch.equal(origin, torch.tensor([0.0, 1.0]).expand_as(origin))

    sin, cos = shifted[:, 0], shifted[:, 1]
    rotation = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)

    expected = (rotation @ pairs[:POSITIONS, :, :, None]).squeeze(-1)
    torch.testing.assert_close(pairs[offset:], expected, atol=1e-5, rtol=0)


def as_pairs(table: torch.Tensor, convention: Convention) -> torch.Tensor:
    """Bring a table to (positions, d_model / 2, [sin, cos])."""
    if convention == "interleaved":
        return table.unflatten(1, (-1, 2))
    return table.unflatten(1, (2, -1)).transpose(1, 2)


def test_wavelengths_run_from_two_pi_to_almost_two_pi_times_ten_thousand() -> None:
    angles = torch.atan2(*sinusoids(2, 512)[1].unflatten(0, (-1, 2)).unbind(-1)).double()

    wavelengths = 2 * math.pi / angles

    assert wavelengths[0].item() == pytest.approx(2 * math.pi)
    assert wavelengths[-1].item() == pytest.approx(2 * math.pi * 10000 ** (510 / 512), rel=1e-4)


@pytest.mark.parametrize("first_position", [3, torch.tensor(3)])
def test_it_adds_its_position_to_each_vector(first_position: Position) -> None:
    x = torch.randn(2, 5, D_MODEL)

    encoded = PositionalEncoding(D_MODEL, convention="marian")(x, first_position=first_position)

    torch.testing.assert_close(encoded, x + sinusoids(8, D_MODEL, "marian")[3:])


def test_the_table_grows_when_a_longer_sequence_comes() -> None:
    positions = PositionalEncoding(D_MODEL, convention="tensor2tensor")
    x = torch.zeros(1, 300, D_MODEL)

    expected = sinusoids(1000, D_MODEL, "tensor2tensor")
    torch.testing.assert_close(positions(x)[0], expected[:300])
    torch.testing.assert_close(positions(x, first_position=700)[0], expected[700:])
    torch.testing.assert_close(positions(x)[0], expected[:300])


@pytest.mark.parametrize("length", [256, 257])
def test_the_table_has_a_row_for_the_first_position_beyond_it(length: int) -> None:
    assert torch.equal(
        SinusoidTable(D_MODEL, "marian")(length), sinusoids(length, D_MODEL, "marian")
    )


def test_training_may_use_the_table_that_a_search_has_made_longer() -> None:
    positions, x = RotaryEncoding(D_MODEL), torch.randn(1, 1, 300, D_MODEL, requires_grad=True)
    with torch.inference_mode():
        positions.rotation(300)

    rotation = positions.rotation(300)
    assert isinstance(rotation, Rotation)
    rotation.equation(x).sum().backward()  # as compiled blocks compute it

    assert x.grad is not None


def test_a_thread_that_needs_fewer_rows_at_the_same_time_takes_none_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = PositionalEncoding(D_MODEL).sinusoids
    put = SinusoidTable.__setattr__

    def put_a_shorter_one(self: SinusoidTable, name: str, value: torch.Tensor) -> None:
        put(self, name, value[:600] if name == "table" else value)

    monkeypatch.setattr(SinusoidTable, "__setattr__", put_a_shorter_one)
    assert table(700).shape == (700, D_MODEL)


def test_the_table_is_neither_learnt_nor_saved_but_moves_with_the_module() -> None:
    positions = PositionalEncoding(D_MODEL)

    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}
    assert positions.to("meta").sinusoids.table.is_meta
    assert torch.equal(positions.to_empty(device="cpu").sinusoids.table, sinusoids(256, D_MODEL))


def test_the_table_keeps_all_its_digits_in_a_model_of_bf16() -> None:
    positions = RotaryEncoding(16).to(torch.bfloat16)

    for length in (200, 300):  # the second one is longer than the table
        rotation = positions.rotation(length)
        x = torch.randn(1, 1, length, 16)
        assert torch.equal(rotation(x), RotaryEncoding(16).rotation(length)(x))


def test_vectors_of_bf16_stay_so_when_their_positions_are_added() -> None:
    x = torch.zeros(1, 3, D_MODEL, dtype=torch.bfloat16)

    assert PositionalEncoding(D_MODEL)(x).dtype == torch.bfloat16


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="d_model=7 is odd"):
        sinusoids(5, 7)


def test_a_convention_that_does_not_exist_is_refused() -> None:
    """Also outside tests, where types are not checked."""
    with pytest.raises(ValueError, match="'marain' is none of interleaved, marian, tensor2tensor"):
        unwrap(sinusoids)(5, 8, "marain")
