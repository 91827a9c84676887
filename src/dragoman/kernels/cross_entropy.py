"""What `dragoman.training.loss.loss_and_gradient` does on a GPU.

Logits are the largest tensor of a training: what reads or writes them takes as long as that takes.
Each program reads those of one position twice, soon enough for the second time to find them in the
GPU's cache, and stores their gradient in their place.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

AT_ONCE = 8192
"""Logits that a program holds; of the sizes from 2,048 to all 32,000, the fastest on an H200."""

WARPS = 8
"""Of 32 threads, that share them."""

LOWEST = tl.constexpr(-1e30)
"""Below all logits; with minus infinity, a difference of two would be no number."""


def loss_and_gradient(logits: Tensor, labels: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Do what `dragoman.training.loss.loss_and_gradient` does; the logits are overwritten."""
    rows, vocab_size = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _replace_by_gradient[(rows,)](
        logits, labels, losses, smoothing, vocab_size=vocab_size, at_once=AT_ONCE, num_warps=WARPS
    )
    return losses, logits


@triton.jit
def _load(logits, first, vocab_size: tl.constexpr, at_once: tl.constexpr):
    column = first + tl.arange(0, at_once)
    there = column < vocab_size
    return tl.load(logits + column, mask=there, other=float("-inf")).to(tl.float32), column, there


@triton.jit
def _replace_by_gradient(
    logits, labels, losses, smoothing, vocab_size: tl.constexpr, at_once: tl.constexpr
):
    """Store log sum exp x - (1 - epsilon) x(label), and softmax(x) - (1 - epsilon) [label]."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * vocab_size
    label = tl.load(labels + row)
    confidence = 1.0 - smoothing
    of_label = confidence * tl.load(logits + label).to(tl.float32)
    largest = LOWEST
    total = 0.0  # of exp(x - largest)
    for first in range(0, vocab_size, at_once):
        x, _, _ = _load(logits, first, vocab_size, at_once)
        larger = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger), axis=0)
        largest = larger
    log_total = largest + tl.log(total)
    tl.store(losses + row, log_total - of_label)
    for first in range(0, vocab_size, at_once):
        x, column, there = _load(logits, first, vocab_size, at_once)
        gradient = tl.exp(x - log_total) - tl.where(column == label, confidence, 0.0)
        tl.store(logits + column, gradient.to(logits.dtype.element_ty), mask=there)
