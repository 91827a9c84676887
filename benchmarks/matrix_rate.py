"""Measure what a machine could do at best: its rate of matrix products, in GFLOP/s.

    python benchmarks/matrix_rate.py [THREADS]

Speeds measured on different machines can be compared only as shares of this number.
"""

import argparse

import torch

from dragoman.planning.machine import matrix_rate

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("threads", nargs="?", type=int, help="all processors if left out")
    if threads := parser.parse_args().threads:
        torch.set_num_threads(threads)
    for dtype in (torch.float32, torch.bfloat16):
        print(f"{torch.get_num_threads()} threads, {dtype}: {matrix_rate(dtype) / 1e9:.0f} GFLOP/s")
