"""Several trainings that share a machine."""

import math
import os
from dataclasses import dataclass

import torch

from dragoman.device import choose_device


@dataclass(frozen=True)
class Shares:
    """What each of several trainings has of a machine; by default, one has all of it."""

    devices: tuple[str, ...] = ("auto",)
    """Of those that run at the same time."""

    turns: float = 1.0
    """How many times as long all of them take as one by itself, with as many threads."""


ALONE = Shares()


def share_machine(device: str, count: int) -> Shares:
    """Give each of several trainings its share of this machine.

    On GPUs each has one for itself, and only the one that was named is used, if one was. On a CPU
    each has threads for itself if there are enough; else rounds of as many as it takes to leave no
    thread idle: of three on two threads, all at once.

    Programs that this one starts keep to the share of the threads: trainings, and the rehearsals of
    a plan.

    Args:
        device: Where a recipe trains.
        count: How many trainings there are.
    """
    threads, chosen = torch.get_num_threads(), choose_device(device)
    if chosen.type == "cpu":
        rounds = max(1, count // threads)
        shares = Shares((device,) * math.ceil(count / rounds), max(1.0, count / threads))
    else:
        several = chosen.index is None and torch.cuda.device_count() > 1
        gpus = range(min(count, torch.cuda.device_count()))
        devices = tuple(f"cuda:{number}" for number in gpus) if several else (device,)
        shares = Shares(devices, math.ceil(count / len(devices)))
    threads_of_one = max(1, threads // len(shares.devices))
    torch.set_num_threads(threads_of_one)
    os.environ["OMP_NUM_THREADS"] = str(threads_of_one)
    return shares
