"""Devices and processors: what a user names, and what the machine has."""

import os
import platform
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dragoman.errors import DragomanError, UsageError

if TYPE_CHECKING:
    import torch


Precision = Literal["auto", "fp32", "bf16"]
"""Of matrix products; `auto` is bf16 where the hardware has it."""


ROUNDS_BEFORE_SLEEP = "5000"
"""How often a thread of OpenMP that waits looks again before it sleeps (GOMP_SPINCOUNT); GCC's
default is sixty times as many."""


def num_cpus() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose_device(name: str = "auto") -> "torch.device":
    """Resolve the name of a device; `auto` takes a GPU, or the CPU without one.

    On a GPU, attention is not computed by cuDNN from then on: PyTorch 2.13 prefers it where a mask
    is given, and it plans anew for each shape, of which a search has hundreds.

    Raises:
        UsageError: it is no name of a device.
        DragomanError: there is no such device on this machine.
    """
    import torch

    torch.backends.cuda.enable_cudnn_sdp(False)
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
    """Tell whether bf16 matrix products are faster than fp32 ones there.

    On a CPU that takes AMX or AVX512-BF16 instructions; others compute bf16 by converting.
    """
    import torch

    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))


def choose_precision(name: Precision, device: "torch.device") -> "torch.dtype":
    """Resolve `auto` to bf16 where the hardware has it, else to fp32."""
    import torch

    if name == "auto":
        name = "bf16" if has_fast_bf16(device) else "fp32"
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[name]


def sleep_while_waiting() -> None:
    """Let threads of PyTorch that have to wait sleep soon; call it before PyTorch is imported.

    By themselves those of GCC's OpenMP spin for a while that is longer than most sums of a training
    take. Where other programs want the processors, one spins while the one that it waits for has
    none: beside three programs on one of two processors a training reached 350 target tokens a
    second, and 2,300 so; alone it is as fast either way. A search for a single sentence is slower
    beside others, which is why translating does not ask for it (`docs/experiments.md`, 2026-11-25).
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", ROUNDS_BEFORE_SLEEP)


def compute_in_one_thread() -> None:
    """Limit PyTorch to one thread for calls from this thread; others keep their number.

    Where other threads keep the processors busy, those that PyTorch adds for a small sum wait for
    one another many times as long as it takes.
    """
    import torch

    if (usual := torch.get_num_threads()) > 1:
        limit_threads(1, usual=usual)


def limit_threads(number: int, *, usual: int) -> None:
    """Let PyTorch compute in so many threads for calls from this thread, and in `usual` for others.

    `set_num_threads` applies to the thread that calls it, and becomes the default of those that
    first use PyTorch later. So this thread uses it first, or it would get the number of others; one
    that first uses PyTorch in the moment between the two settings keeps `number`.
    """
    import torch

    torch.get_num_threads()
    torch.set_num_threads(number)
    restoring = threading.Thread(target=torch.set_num_threads, args=(usual,))
    restoring.start()
    restoring.join()


def device_name(device: "torch.device") -> str:
    """Name a device as its maker does, for the records."""
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{_processor()}, {num_cpus()} processors" if device.type == "cpu" else str(device)


def _processor() -> str:
    """Name the model of the CPU; only Linux tells it in a file."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").split("\n") if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
