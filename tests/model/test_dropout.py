"""Dropout: distributed as PyTorch's, although it draws bytes."""

import pytest
import torch
from torch.nn import functional as F

from dragoman.model.dropout import Dropout

RATES = [0.1, 0.3, 0.5, 0.9]
ONES = torch.ones(500, 800)
STANDARD_ERROR = ONES.numel() ** -0.5


def training(rate: float) -> Dropout:
    return Dropout(rate).train()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_drops_as_often_as_the_dropout_of_pytorch(rate: float, dtype: torch.dtype) -> None:
    ours = (training(rate)(ONES.to(dtype)) == 0).float().mean()
    theirs = (F.dropout(ONES, rate) == 0).float().mean()

    rounding = 1 / 512
    assert abs(ours - rate) < rounding + 4 * STANDARD_ERROR
    assert abs(ours - theirs) < rounding + 4 * STANDARD_ERROR


@pytest.mark.parametrize("rate", RATES)
def test_the_expectation_is_exact_although_the_rate_is_rounded(rate: float) -> None:
    dropped = training(rate)(ONES)
    rounded = round(256 * rate) / 256

    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - rounded)])
    deviation = (rounded / (1 - rounded)) ** 0.5
    assert abs(dropped.mean() - 1) < 4 * deviation * STANDARD_ERROR


@pytest.mark.parametrize("rate", RATES)
def test_in_bf16_the_expectation_is_as_exact_as_its_digits(rate: float) -> None:
    dropped = training(rate)(ONES.bfloat16()).float()
    rounded = round(256 * rate) / 256

    assert dropped.unique()[1].item() == pytest.approx(1 / (1 - rounded), rel=2**-8)
    deviation = (rounded / (1 - rounded)) ** 0.5
    assert abs(dropped.mean() - 1) < 2**-8 + 4 * deviation * STANDARD_ERROR


def test_it_scales_what_it_keeps_and_nothing_else() -> None:
    x = torch.randn(300, 7)

    dropped = training(0.25)(x)

    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], x[kept] / 0.75)


@pytest.mark.parametrize("distance", [1, 2, 8, 64])
def test_elements_fall_independently_of_those_near_them(distance: int) -> None:
    fell = (training(0.25)(ONES) == 0).flatten().float()

    both = (fell[:-distance] * fell[distance:]).mean()

    assert abs(both - fell.mean() ** 2) < 4 * STANDARD_ERROR


def test_every_call_draws_anew_and_a_seed_repeats_them() -> None:
    dropout = training(0.5)

    torch.manual_seed(1)
    first, second = dropout(ONES), dropout(ONES)
    torch.manual_seed(1)
    again = dropout(ONES)

    assert torch.equal(first, again)
    both = ((first == 0) & (second == 0)).float().mean()
    assert abs(both - 0.25) < 4 * STANDARD_ERROR


def test_evaluation_and_a_rate_of_zero_change_nothing() -> None:
    assert torch.equal(Dropout(0.5).eval()(ONES), ONES)
    assert torch.equal(training(0.0)(ONES), ONES)


def test_the_gradient_passes_where_the_value_passed() -> None:
    x = torch.randn(50, 7, requires_grad=True)

    dropped = training(0.5)(x)
    dropped.sum().backward()

    assert x.grad is not None
    assert torch.equal(x.grad, 2.0 * (dropped != 0))


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 0, 4), (7, 1, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_shape_and_precision_is_kept(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    dropped = training(0.5)(torch.ones(shape, dtype=dtype))

    assert (dropped.shape, dropped.dtype) == (shape, dtype)


def test_a_rate_that_rounds_to_one_still_keeps_something() -> None:
    assert training(0.999)(ONES).max() == 256


@pytest.mark.parametrize(("rate", "levels"), [(0.0019, 0), (0.002, 1), (0.1, 26)])
def test_a_cpu_rounds_the_rate_as_the_settings_say(rate: float, levels: int) -> None:
    torch.manual_seed(0)

    share = (Dropout(rate)(torch.ones(2**20)) == 0).float().mean().item()

    assert share == pytest.approx(levels / 256, abs=2e-3)
    assert (share == 0) is (levels == 0)
