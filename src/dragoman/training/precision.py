"""Where a model is trained, and in which number format."""

from contextlib import AbstractContextManager

import torch

from dragoman.device import choose_device
from dragoman.training.distributed import local_rank


def device_of_process(name: str) -> torch.device:
    """Resolve the name of a device; `auto` and `cuda` give each process a GPU of its own.

    Raises:
        DragomanError: there is no such device on this machine.
    """
    if name == "cuda" or (name == "auto" and torch.cuda.is_available()):
        name = f"cuda:{local_rank()}"
    return choose_device(name)


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
