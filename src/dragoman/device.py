"""Devices and processors: what a user names, and what the machine has."""

import contextlib
import math
import os
import platform
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dragoman.control_groups import share_of_time
from dragoman.errors import DragomanError, UsageError

if TYPE_CHECKING:
    import torch


Precision = Literal["auto", "fp32", "bf16"]
"""Number format of matrix products; `auto` is bf16 where the hardware has it."""


ROUNDS_BEFORE_SLEEP = "5000"
"""How many times a waiting OpenMP thread spins before it sleeps (GOMP_SPINCOUNT); GCC's default is
sixty times as many."""

_LIMITING = threading.Lock()
"""Held while PyTorch's default number of threads is that of one thread alone."""

if hasattr(os, "register_at_fork"):  # a child would keep that number, and the lock, for good
    os.register_at_fork(
        before=_LIMITING.acquire,
        after_in_parent=_LIMITING.release,
        after_in_child=_LIMITING.release,
    )


def num_cpus() -> int:
    """Count the processors that this process may use, or has the time of.

    A container or a service may get less than the time of all that it sees (`docker --cpus`, limits
    of Kubernetes, CPUQuota of systemd). With a thread on each, it would use up its share early in
    each tenth of a second, and stand still for the rest, the network included.
    """
    return math.ceil(min(_num_seen(), share_of_time()))


def _num_seen() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_device(name: str) -> "torch.device":
    """Resolve the name of a device; `auto` takes a GPU, or the CPU without one.

    If it is a GPU, cuDNN computes no attention in this process from then on: PyTorch 2.13 prefers
    it where there is a mask, and it makes a new plan for each shape, of which a search has
    hundreds.

    Raises:
        UsageError: the name is not that of a device.
        DragomanError: there is no such device on this machine.
    """
    import torch

    device = _find_device(name)
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device


def _find_device(name: str) -> "torch.device":
    """Try whether a device can be used."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"device {name!r}: write auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DragomanError(f"device {name!r}: PyTorch finds no GPU here; write auto or cpu")
    try:
        torch.zeros(1, device=device).item()
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        if device.type == "cuda" and "invalid device ordinal" not in str(error):
            reason = str(error).partition("\n")[0]
            raise DragomanError(f"device {name!r}: cannot be used: {reason}") from error
        raise DragomanError(
            f"device {name!r}: PyTorch finds no such device here; write auto or cpu"
        ) from None
    return device


def has_fast_bf16(device: "torch.device") -> bool:
    """Tell whether bf16 matrix products are faster than fp32 ones on a device.

    A CPU needs AMX or AVX512-BF16 instructions for that; others convert bf16 to compute with it.
    """
    import torch

    if device.type == "cuda":
        with torch.cuda.device(device):  # it asks about the current one
            return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))


def choose_precision(name: Precision, device: "torch.device") -> "torch.dtype":
    """Resolve `auto` to bf16 where the hardware has it, else to fp32."""
    import torch

    if name == "auto":
        name = "bf16" if has_fast_bf16(device) else "fp32"
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[name]


@contextlib.contextmanager
def without_settings_of_caller(device: "torch.device") -> Iterator[None]:
    """Compute as in a program that has changed nothing in PyTorch.

    A caller's `torch.autocast` would make another precision of the chosen one, though only in the
    thread that called; and tensors that belong on the host would be made on a caller's default
    device.

    Args:
        device: Where the model is.
    """
    import torch

    with contextlib.ExitStack() as settings:
        settings.enter_context(torch.autocast(device.type, enabled=False))
        if torch.get_default_device().type != "cpu":  # otherwise each operation would pay for it
            settings.enter_context(torch.device("cpu"))
        yield


@contextlib.contextmanager
def set_up_to_train(device: "torch.device") -> Iterator[None]:
    """Do the same for training, which needs gradients, and new weights in single precision."""
    import torch

    dtype = torch.get_default_dtype()
    with without_settings_of_caller(device), torch.inference_mode(False):  # nor with `no_grad`
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


def keep_to_share_of_time() -> None:
    """Let PyTorch have no more threads than `num_cpus`; call it before PyTorch is imported.

    It counts all processors that it sees. Programs that this one starts keep to it, too.
    """
    if num_cpus() < _num_seen():
        os.environ.setdefault("OMP_NUM_THREADS", str(num_cpus()))


def sleep_while_waiting() -> None:
    """Let waiting PyTorch threads go to sleep soon; call it before PyTorch is imported.

    By default, the threads of GCC's OpenMP spin for longer than most operations of training take.
    Where other programs compete for the processors, one thread spins while the thread that it waits
    for has no processor: beside three programs on one of two processors, training reached 350
    target tokens a second, and 2,300 with this; alone it is equally fast either way. A search for a
    single sentence becomes slower beside other programs, which is why translating does not use it
    (`docs/experiments.md`, 2026-11-25).
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", ROUNDS_BEFORE_SLEEP)


def count_threads() -> int:
    """Tell how many threads PyTorch uses for calls from this thread, which may be new to it."""
    import torch

    with _LIMITING:
        return torch.get_num_threads()


def compute_in_one_thread() -> None:
    """Limit PyTorch to one thread for calls from this thread; others keep their number.

    Where other threads keep the processors busy, the threads that PyTorch adds for a small
    operation wait for one another many times longer than it takes.
    """
    if count_threads() > 1:
        limit_threads(1)


def limit_threads(number: int) -> None:
    """Let PyTorch use `number` threads for calls from this thread; others keep theirs.

    `set_num_threads` applies to the calling thread, and becomes the default for threads that first
    use PyTorch later. So this thread uses PyTorch first, or it would get the number of the others;
    and a new thread, which has the default, sets it again. One that first uses PyTorch in between
    keeps `number`, unless it first asks `count_threads`.
    """
    import torch

    with _LIMITING, ThreadPoolExecutor(1) as another:
        usual = another.submit(torch.get_num_threads).result()
        torch.get_num_threads()
        torch.set_num_threads(number)
        another.submit(torch.set_num_threads, usual).result()


def device_name(device: "torch.device") -> str:
    """Name a device as its maker does, for the records."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{_processor()}, {num_cpus()} processors" if device.type == "cpu" else str(device)


def _processor() -> str:
    """Name the model of the CPU; only Linux has it in a file."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").split("\n") if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
