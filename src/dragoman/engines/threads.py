"""How the threads of PyTorch share the batches of a search."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import torch

from dragoman.device import count_threads, limit_threads

Batch = TypeVar("Batch")
Result = TypeVar("Result")


def for_each(
    batches: Sequence[Batch], work: Callable[[Batch], Result], device: torch.device
) -> Iterator[Result]:
    """Process each batch, without gradients; the results keep their order.

    On a CPU each thread has a batch of its own: the operations of a step are too small to be
    shared, and two batches on one core each are done 1.4 times as fast as one after the other on
    both.

    Args:
        batches: What to process; the largest should come first.
        work: What to do with each.
        device: Where it is done.
    """
    num_threads = count_threads()
    num_workers = min(num_threads, len(batches)) if device.type == "cpu" else 1
    without_gradients = torch.inference_mode()(work)
    if num_workers <= 1:
        yield from map(without_gradients, batches)
        return
    limit = partial(limit_threads, num_threads // num_workers)
    with ThreadPoolExecutor(num_workers, initializer=limit) as workers:
        yield from workers.map(without_gradients, batches)
