"""Which masks a learner's attention expects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from dragoman.checking.arguments import NotCheckableError

REFUSED = (RuntimeError, TypeError, IndexError, ValueError, AssertionError)
"""What a module that does not understand a mask raises."""

Meaning = Literal["visible", "hidden", "added"]


@dataclass(frozen=True, kw_only=True)
class Convention:
    """What a mask is made of, and of what shape."""

    meaning: Meaning
    """True where attention may look, True where it may not, or a number added to the score."""

    dtype: torch.dtype
    dimensions: int
    """4 for (batch, 1, query, memory), 3 without the heads, 2 also without the batch, and 1 for
    (batch, memory), which is the same for all queries."""

    def mask(self, visible: Tensor) -> Tensor:
        """Write a mask in this convention.

        Args:
            visible: (batch, query, memory), True where attention may look.

        Raises:
            NotCheckableError: it cannot express that queries see different things.
        """
        if self.dimensions == 1 and not bool((visible == visible[:, :1]).all()):
            raise NotCheckableError(
                "its masks are of keys alone, (batch, keys), and cannot say what each query may see"
            )
        if self.meaning == "added":
            told = torch.zeros(visible.shape, dtype=self.dtype).masked_fill(~visible, -torch.inf)
        else:
            told = (visible if self.meaning == "visible" else ~visible).to(self.dtype)
        return {4: told[:, None], 3: told, 2: told[0], 1: told[:, 0]}[self.dimensions]


USUAL = Convention(meaning="visible", dtype=torch.int64, dimensions=4)


def conventions() -> Iterator[Convention]:
    """Iterate over the conventions in use, the most frequent first."""
    kinds: tuple[tuple[Meaning, torch.dtype], ...] = (
        ("visible", torch.int64),
        ("visible", torch.bool),
        ("hidden", torch.bool),
        ("hidden", torch.int64),
        ("visible", torch.float32),
        ("hidden", torch.float32),
        ("added", torch.float32),
    )
    for dimensions in (4, 3, 2, 1):
        for meaning, dtype in kinds:
            yield Convention(meaning=meaning, dtype=dtype, dimensions=dimensions)


def find_convention(
    attend: Callable[[Tensor, Tensor], Tensor], memory: Tensor, *, queries: int
) -> Convention | None:
    """Find the convention by which the last position of the memory can be hidden.

    Args:
        attend: Computes the output from a memory and a mask, but for the last two positions.
        memory: (batch, memory, d_model).
        queries: For how many positions the mask is.

    Returns:
        The first convention with which the output depends on the first position of the memory and
        not on the last one, or None.
    """
    batch, length, width = memory.shape
    changed_last, changed_first = memory.clone(), memory.clone()
    changed_last[:, -1] += torch.linspace(-3, 3, width)
    changed_first[:, 0] += torch.linspace(-3, 3, width)
    visible = torch.ones(batch, queries, length, dtype=torch.bool)
    visible[:, :, -1] = False
    for convention in conventions():
        mask = convention.mask(visible)
        try:
            output, other_last, other_first = (
                attend(x, mask) for x in (memory, changed_last, changed_first)
            )
        except REFUSED:
            continue
        if output.shape != (batch, length - 2, width) or not output.isfinite().all():
            continue
        hides = torch.allclose(output, other_last, rtol=0.0, atol=1e-6)
        if hides and not torch.allclose(output, other_first, atol=1e-5):
            return convention
    return None
