"""Positional encoding (section 3.5): sinusoids that are added, or that rotate queries and keys."""

import math
from collections.abc import Callable
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.rotation import Rotate, Rotation, unrotated

Convention = Literal["interleaved", "marian", "tensor2tensor"]

Position = int | Int[Tensor, ""]
"""Of the first vector of a sequence. One on a GPU may change before it is read there."""


def sinusoids(
    num_positions: int, d_model: int, convention: Convention = "interleaved"
) -> Float[Tensor, "positions d_model"]:
    """Compute the table of positional encodings, one row per position.

    `interleaved` is the paper's: sine in the even dimensions, cosine in the odd ones,

        PE(pos, 2i)     = sin(pos / 10000^(2i / d_model))
        PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))      i = 0 ... d_model/2 - 1

    so the wavelengths run from 2 pi to almost 10000 * 2 pi. `marian`, as Hugging Face's
    transformers have it for Marian, has the same numbers, all the sines first and then all the
    cosines. `tensor2tensor`, as the paper's own code and Marian itself have it, is laid out so but
    has the exponent i / (d_model/2 - 1), so that the last wavelength is 10000 * 2 pi exactly.

    For d_model = 4 the two divisors are 10000^0 = 1 and 10000^(2/4) = 100:

    >>> print(sinusoids(5, 4).numpy().round(4))
    [[ 0.      1.      0.      1.    ]
     [ 0.8415  0.5403  0.01    1.    ]
     [ 0.9093 -0.4161  0.02    0.9998]
     [ 0.1411 -0.99    0.03    0.9996]
     [-0.7568 -0.6536  0.04    0.9992]]

    Raises:
        ValueError: d_model is odd, so a sine would lack its cosine; or there is no such convention.
    """
    if d_model % 2 != 0:
        raise ValueError(f"d_model={d_model} is odd; sinusoids come in pairs")
    if convention not in get_args(Convention):
        raise ValueError(f"convention={convention!r} is none of {', '.join(get_args(Convention))}")
    half = d_model // 2
    # In double precision: far positions lose digits in single precision.
    position = torch.arange(num_positions, dtype=torch.float64).unsqueeze(1)
    pair = torch.arange(half, dtype=torch.float64)
    exponent = pair / max(half - 1, 1) if convention == "tensor2tensor" else 2 * pair / d_model
    angle = position * torch.exp(-math.log(10000.0) * exponent)  # positions half
    if convention == "interleaved":
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(start_dim=1)
    else:
        table = torch.cat([angle.sin(), angle.cos()], dim=-1)
    return table.float()


class SinusoidTable(nn.Module):
    """Rows of sinusoids for the positions of a sequence.

    The table is a buffer: it moves with the module, it is not a parameter, and it is not saved,
    because it can always be recomputed. It grows when a longer sequence comes. It stays in single
    precision whatever the precision of the module.
    """

    table: Tensor

    def __init__(self, width: int, convention: Convention) -> None:
        super().__init__()
        self.width = width
        self.convention = convention
        self.register_buffer("table", sinusoids(256, width, convention), persistent=False)

    def forward(
        self, length: int, *, first_position: Position = 0
    ) -> Float[Tensor, "length width"]:
        """Return the rows of `length` positions, from `first_position` on.

        A position that is on a GPU is not known to the host, so the caller has to see to it that
        the table is long enough, by `reach`.
        """
        if isinstance(first_position, Tensor):
            positions = first_position + torch.arange(length, device=first_position.device)
            return self.table.index_select(0, positions)
        return self.reach(first_position + length)[first_position : first_position + length]

    def reach(self, length: int) -> Float[Tensor, "positions width"]:
        """Return a table of at least so many rows, twice as many if it has to grow.

        What is returned is long enough even if another thread replaces `self.table` by a shorter
        one in the meantime.
        """
        table = self.table
        if length > table.size(0):
            with torch.inference_mode(False):  # training may use the longer table, too
                self.table = table = self._compute(2 * length, table.device)
        return table

    def _compute(self, num_positions: int, device: torch.device) -> Tensor:
        return sinusoids(num_positions, self.width, self.convention).to(device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "SinusoidTable":
        """Move to another device, but not to another precision: the table is computed anew.

        `to`, `cuda`, `half` and the like all come here.
        """
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        with torch.device("cpu"):  # not on a default device of the caller, whose sines may differ
            self.table = self._compute(len(self.table), self.table.device)
        return self


class PositionalEncoding(nn.Module):
    """Add the encoding of its position to each vector, as the paper does."""

    def __init__(self, d_model: int, *, convention: Convention = "interleaved") -> None:
        super().__init__()
        self.sinusoids = SinusoidTable(d_model, convention)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], *, first_position: Position = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Encode x, whose first vector is at `first_position` of its sequence."""
        return x + self.sinusoids(x.size(1), first_position=first_position).to(x.dtype)

    def rotation(self, length: int, *, first_position: Position = 0) -> Rotate:
        """Return how self-attention rotates the queries and keys of these positions: not at all."""
        return unrotated


class RotaryEncoding(nn.Module):
    """Add nothing, and rotate queries and keys by angles.

    They are those whose sines `PositionalEncoding` adds, with d_k in the place of d_model.

    Raises:
        ValueError: d_k is odd.
    """

    def __init__(self, d_k: int) -> None:
        super().__init__()
        self.sinusoids = SinusoidTable(d_k, "interleaved")

    def forward(
        self, x: Float[Tensor, "batch length d_model"], *, first_position: Position = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Leave embeddings as they are."""
        return x

    def rotation(self, length: int, *, first_position: Position = 0) -> Rotate:
        """Return how self-attention rotates the queries and keys of these positions."""
        rows = self.sinusoids(length, first_position=first_position)
        sines, cosines = rows.unflatten(-1, (-1, 2)).unbind(dim=-1)
        return Rotation(sines, cosines)


def build_positions(config: TransformerConfig) -> PositionalEncoding | RotaryEncoding:
    """Build the kind of positional encoding that the config names."""
    if config.positional_encoding == "rotary":
        return RotaryEncoding(config.d_k)
    return PositionalEncoding(config.d_model, convention=config.positional_encoding)
