"""The few questions that training asks about other processes; every answer also holds for one."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from dragoman.device import choose_device
from dragoman.errors import DragomanError

LONGEST_WAIT = timedelta(days=7)
LONGEST_MEETING = 300.0
"""Seconds for all processes to start."""

PORT_KEY = "dragoman/port"

_kept: list[object] = []
"""Groups that have ended; see `_end_group`."""


class ProcessLostError(DragomanError):
    """Another process of the training run is gone."""


def rank() -> int:
    """Return the number of this process among those that `torchrun` has started, from 0."""
    return int(os.environ["RANK"]) if dist.is_torchelastic_launched() else 0


def world_size() -> int:
    """Count the processes that `torchrun` has started, even before they meet."""
    return int(os.environ["WORLD_SIZE"]) if dist.is_torchelastic_launched() else 1


def device_of_process(name: str) -> torch.device:
    """Resolve the name of a device; `auto` and `cuda` give each process a GPU of its own.

    Raises:
        DragomanError: there is no such device on this machine, or not one for each process.
    """
    if name.startswith("cuda:") and int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1:
        raise DragomanError(
            f"device {name!r}: it is for one process of a machine, and there are several; write "
            "auto or cuda, which give each a GPU of its own"
        )
    if name in ("auto", "cuda") and torch.cuda.is_available():
        number = int(os.environ.get("LOCAL_RANK", "0"))
        if (count := torch.cuda.device_count()) <= number:
            raise DragomanError(
                f"process {number} of this machine has no GPU of its own: the number of GPUs "
                f'is {count}; start torchrun with "--nproc-per-node {count}"'
            )
        name = f"cuda:{number}"
    return choose_device(name)


@contextmanager
def process_group(device: torch.device) -> Iterator[None]:
    """Join the processes that `torchrun` has started; alone, do nothing.

    The others wait for the first process while it prepares text or validates, which may take
    hours; a process that dies is noticed by `torchrun`, not by this time limit.

    Raises:
        ProcessLostError: another process has ended, cannot be reached, or has not arrived.
    """
    if not dist.is_torchelastic_launched():
        yield
        return
    try:
        _join(device)
        yield
    except RuntimeError as error:
        if not _is_of_connection(error):
            raise
        raise ProcessLostError(
            "another process of this training has ended or cannot be reached; its own message may "
            "say why, and the same command goes on from the last checkpoint "
            f"({' '.join(str(error).split())})"
        ) from error
    finally:
        if dist.is_initialized():
            _end_group()


def _join(device: torch.device) -> None:
    """Connect to the other processes."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # With GPUs too, what processes ask each other on the host goes from host to host.
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        dist.init_process_group(
            backend, timeout=LONGEST_WAIT, store=_new_store(), rank=rank(), world_size=world_size()
        )
    else:
        dist.init_process_group(backend, timeout=LONGEST_WAIT)


def _end_group() -> None:
    """Leave the group, and keep what is left of it for as long as the process lives.

    Dropping the last reference to a group joins its threads. If the trained model drops it, PyTorch
    2.13 holds the interpreter's lock meanwhile, which one of these threads may need in order to
    free a tensor: one training run in a hundred hung at its end.
    """
    _kept.append(dist.group.WORLD)
    dist.destroy_process_group()


def _is_of_connection(error: RuntimeError) -> bool:
    """Recognise the errors of `torch.distributed`; those of gloo have no class of their own."""
    text = str(error)
    if "out of memory" in text.lower():
        return False
    return isinstance(error, dist.DistError) or "/gloo/" in text


def _new_store() -> TCPStore:
    """Open the store through which processes find each other: a new one after each restart.

    The one that `torchrun` offers survives a restart and still has the addresses of dead processes
    (in PyTorch 2.13), for which early processes would wait. So the first process opens a new one,
    and leaves its port in the old one; a process that finds a dead port there looks again.
    """
    host = os.environ["MASTER_ADDR"]
    longest = timedelta(seconds=LONGEST_MEETING)
    offered = TCPStore(host, int(os.environ["MASTER_PORT"]), is_master=False, timeout=longest)
    if rank() == 0:
        store = TCPStore(host, 0, is_master=True, wait_for_workers=False)
        offered.set(PORT_KEY, str(store.port))
        return store
    deadline = time.monotonic() + LONGEST_MEETING
    while True:
        port = int(offered.get(PORT_KEY))
        try:
            return TCPStore(host, port, is_master=False, timeout=timedelta(seconds=5))
        except dist.DistError:
            if time.monotonic() > deadline:
                raise


def sum_over_ranks(value: Tensor) -> Tensor:
    """Add up a tensor over all processes."""
    if world_size() > 1:
        value = value.clone()
        dist.all_reduce(value)
    return value


def agree(flag: bool) -> bool:
    """Tell whether any process raises this flag, alike on all of them; wait for no GPU."""
    return bool(sum_over_ranks(torch.tensor(float(flag))).item() > 0)


def share_from_first(values: list[float]) -> list[float]:
    """Give every process the numbers that the first one has."""
    if world_size() == 1:
        return values
    tensor = torch.tensor(values, dtype=torch.float64)
    dist.broadcast(tensor, src=0)
    return tensor.tolist()


def text_of_first(text: str) -> str:
    """Give every process the text that the first one has."""
    content = bytearray(text.encode())
    length = int(share_from_first([len(content)])[0])
    tensor = torch.tensor(content.ljust(length)[:length], dtype=torch.uint8)
    if world_size() > 1:
        dist.broadcast(tensor, src=0)
    return bytes(tensor.tolist()).decode()


def barrier() -> None:
    """Wait for all processes."""
    if world_size() > 1:
        dist.barrier()
