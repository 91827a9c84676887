"""What is shown of a module in training mode is told, and of one that evaluates is not."""

import pytest
import torch

from dragoman.checking.cells import Cell
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.report import Finding

PART = """
import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )

    def forward(self, x):
        return self.layers(x)


network = FeedForward(8, 16, dropout=0.5)
x = torch.ones(1, 100, 8)
"""


def notes(shown: str, *, number: int | None = None) -> list[Finding]:
    report = Examiner([Cell(source=PART + shown, number=number)], Wishes()).report("x.py", [])
    assert report.num_mistakes == 0
    return [note for note in report.parts[0].notes if note.name == "shown-in-training"]


@pytest.mark.parametrize("shown", ["y = network(x)\nprint(y)\n", "print('y', network(x))\n"])
def test_what_is_printed_in_training_mode_is_told_with_its_zeros(shown: str) -> None:
    (note,) = notes(shown)

    assert note.measured.startswith("line 20 shows" if "y =" in shown else "line 19 shows")
    assert "made at line 19, " in note.measured
    zeros = int(note.measured.partition("line 19, ")[2].partition("%")[0])
    assert zeros == pytest.approx(50, abs=8)  # four deviations of 800 coins


def test_of_numbers_of_which_none_is_zero_no_zeros_are_told() -> None:
    (note,) = notes("network.layers.append(nn.Linear(8, 8))\nprint(network(x))\n")

    assert "made at line 20, in evaluation mode its numbers differ by up to " in note.measured


@pytest.mark.parametrize(
    "shown",
    [
        "network.eval()\nprint(network(x))\n",
        "y = network(x)\nprint(y.shape)\n",
        "network = FeedForward(8, 16, dropout=0.0)\nprint(network(x))\n",
        "y = network(x)\ny = torch.zeros(3)\nprint(y)\n",
        "loss = network(x).sum()\nprint(loss)\n",
        "drop = nn.Dropout(0.5)\nprint(drop(x))\n",
        "y = network(x)\ny\n",
    ],
)
def test_what_is_right_or_not_shown_is_not_told(shown: str) -> None:
    assert notes(shown) == []


def test_a_notebook_shows_what_stands_alone() -> None:
    (note,) = notes("y = network(x)\ny.shape, y\n", number=3)

    assert note.measured.startswith("cell 3, line 20 shows `y`")


def test_looking_leaves_the_program_as_it_was() -> None:
    def drawn(shown: str) -> float:
        torch.manual_seed(0)
        examiner = Examiner([Cell(source=f"{PART}y = network(x)\n{shown}")], Wishes())
        examiner.report("x.py", [])
        assert examiner.program.names["network"].training
        return torch.rand(()).item()

    assert drawn("print(y)\n") == drawn("print(y.shape)\n")


def test_what_cannot_be_run_again_is_left_alone() -> None:
    assert notes("y = network(x)\ndel x\nprint(y)\n") == []
