"""Measure what a machine could do at best: its rate of matrix products, in GFLOP/s.

    python benchmarks/matrix_rate.py [THREADS]

Speeds of other machines compare only as shares of this number.
"""

import sys
import time

import torch

ROWS, COLUMNS, INNER = 4096, 1024, 256  # a feed-forward layer of the preset `small`
SECONDS = 3.0


def matrix_rate(dtype: torch.dtype) -> float:
    """Return the best rate of a product of (ROWS, INNER) and (INNER, COLUMNS), in GFLOP/s."""
    left, right = torch.randn(ROWS, INNER).to(dtype), torch.randn(INNER, COLUMNS).to(dtype)
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        began = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - began)
    return 2 * ROWS * COLUMNS * INNER / best / 1e9


if __name__ == "__main__":
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    for dtype in (torch.float32, torch.bfloat16):
        print(f"{torch.get_num_threads()} threads, {dtype}: {matrix_rate(dtype):.0f} GFLOP/s")
