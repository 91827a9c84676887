"""What a check is, and what it says."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from dragoman.checking.construction import Workshop
from dragoman.checking.report import PAGE, Finding


@dataclass(frozen=True, kw_only=True)
class Check:
    """A behaviour that a part should have."""

    name: str
    finding: str
    """What is wrong with a part that lacks it, in one sentence."""

    why: str
    """Why it matters."""

    section: str
    """Of Vaswani et al. 2017."""

    kind: Literal["mistake", "note"] = "mistake"
    """A note is a peculiarity that works."""

    def report(self, measured: str) -> Finding:
        """Report that the behaviour is missing."""
        return Finding(
            name=self.name,
            finding=self.finding,
            measured=measured,
            why=self.why,
            section=self.section,
            page=f"{PAGE}#{self.name}",
        )


FIRST_WORD = 4
"""The smallest id that is neither padding nor special."""

MOST_EXCHANGED = 20
"""Words that are put in the place of others; every vocabulary has so many."""

S, T = 7, 5
"""Lengths of source and target."""

Verdict = tuple[Check, str | None]
"""A check and the measurement that speaks against the part; None if it passed."""

Examination = Callable[[Workshop, str], Iterator[Verdict]]
"""Examines the part of this name. Raises NotCheckableError if it cannot."""


def random(*shape: int, seed: int = 1, scale: float = 1.0) -> Tensor:
    """Draw numbers that are the same each time."""
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def tokens(batch: int, length: int, vocab: int, *, seed: int = 1) -> Tensor:
    """Draw token ids that are neither padding nor special."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(FIRST_WORD, vocab, (batch, length), generator=generator)


def exchange(words: Tensor, position: int) -> Tensor:
    """Put other words at one position: the next ones, or the first ones of all."""
    exchanged = words.clone()
    exchanged[:, position] = FIRST_WORD + (words[:, position] - FIRST_WORD + 1) % MOST_EXCHANGED
    return exchanged


def distance(one: Tensor, other: Tensor) -> float:
    """Measure the largest difference; infinite where a value is not a number."""
    difference = (one - other).abs().max().item()
    return math.inf if math.isnan(difference) else difference


def same(one: Tensor, other: Tensor, tolerance: float = 1e-4) -> bool:
    """Tell whether two results are the same apart from rounding."""
    size = max(other.detach().abs().max().item(), 1e-3)
    return one.shape == other.shape and distance(one, other) <= tolerance * size
