"""What a machine could do at best: its rate of matrix products."""

import time

import torch

PRODUCT = (4096, 1024, 256)
"""Rows, columns and inner size of the product that is timed: a feed-forward layer of the preset
`small`."""

PRODUCT_ON_GPU = (8192, 8192, 8192)
"""The same on a GPU: one that takes much longer than launching it."""


SHARE_OF_RATE = 0.3
MOST_OF_THREAD = 1.5e11
"""About the most FLOP/s of training that a CPU thread reaches, however fast its products are."""


def matrix_rate(
    dtype: torch.dtype, *, device: torch.device | str = "cpu", seconds: float = 3.0
) -> float:
    """Return the best rate of a product of two matrices, in FLOP/s; see `PRODUCT`."""
    is_cpu = torch.device(device).type == "cpu"
    rows, columns, inner = PRODUCT if is_cpu else PRODUCT_ON_GPU
    left = torch.randn(rows, inner).to(device, dtype)
    right = torch.randn(inner, columns).to(device, dtype)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        float((left @ right)[0, 0])  # waits for a GPU
        best = min(best, time.perf_counter() - began)
    return 2 * rows * columns * inner / best


def training_rate(parameters: int, device: torch.device, dtype: torch.dtype) -> float:
    """Guess how many target tokens per second can be trained on, before training on any.

    A target token costs about six operations for each parameter, forward and backward. On a CPU
    small models reach a quarter to a half of the matrix rate; where products are very fast, as in
    bf16 with AMX, most of the time goes to what is between them: it is about `MOST_OF_THREAD`.
    """
    reached = SHARE_OF_RATE * matrix_rate(dtype, device=device, seconds=0.5)
    if device.type == "cpu":
        reached = min(reached, MOST_OF_THREAD * torch.get_num_threads())
    return reached / (6 * parameters)
