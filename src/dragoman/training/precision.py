"""Where a model is trained, and in which number format."""

from contextlib import AbstractContextManager

import torch

from dragoman.config import DragomanError
from dragoman.training.distributed import local_rank


def choose_device(name: str) -> torch.device:
    """Resolve `auto` and `cuda` to the GPU of this process; `auto` takes the CPU without one.

    Raises:
        DragomanError: a GPU is asked for and there is none.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        name = f"cuda:{local_rank()}"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DragomanError(f"device {name!r}: write auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DragomanError(f"device {name!r}: PyTorch finds no GPU here; write auto or cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise DragomanError(
            f"device {name!r}: there are {torch.cuda.device_count()} GPUs; start as many processes"
        )
    return device


def has_fast_bf16(device: torch.device) -> bool:
    """Tell whether bf16 matrix products are faster than fp32 ones there.

    On a CPU that takes AMX or AVX512-BF16 instructions; others compute bf16 by converting.
    """
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """Resolve `auto` to bf16 where the hardware has it, else to fp32."""
    if name == "auto":
        name = "bf16" if has_fast_bf16(device) else "fp32"
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[name]


def autocast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[None]:
    """Compute matrix products in this type; the weights stay in fp32."""
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)
