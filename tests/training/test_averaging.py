"""Averages of weights."""

import torch
from torch import nn

from dragoman.training.averaging import ExponentialMovingAverage, mean_weights, weights_of


def test_the_moving_average_follows_its_formula() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    average = ExponentialMovingAverage(model, decay=0.9)

    nn.init.constant_(model.weight, 5.0)
    average.update(model, num_updates=1)  # decay (1 + 1) / (10 + 1), still below 0.9
    first = 2.0 * 2 / 11 + 5.0 * 9 / 11
    nn.init.constant_(model.weight, 1.0)
    average.update(model, num_updates=1000)  # decay 0.9

    expected = 0.9 * first + 0.1 * 1.0
    torch.testing.assert_close(average.weights["weight"].item(), expected)


def test_a_shared_table_is_one_weight() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight

    assert list(weights_of(model)) == ["0.weight"]


def test_the_mean_of_checkpoints_is_not_rounded_on_the_way() -> None:
    several = [{"a": torch.tensor([number, -number])} for number in (2.0**24, 1.0, 1.0)]

    assert mean_weights(several)["a"].tolist() == [(2**24 + 2) / 3, -(2**24 + 2) / 3]
