"""How several processes share one model: each holds all of it, or each holds a part of every layer.

With DDP (Li et al. 2020) each process has the whole model and the whole optimizer state, and the
gradients are averaged once per update. With FSDP2, fully sharded data parallelism (Rajbhandari et
al. 2020, stage 3; Zhao et al. 2023), each process keeps 1/n of every tensor: a layer's weights are
gathered just before they are needed and freed right after, and its gradients arrive summed and
split into parts. What a process keeps is then a `DTensor`; `whole` and `part_like` convert back and
forth, and leave ordinary tensors as they are. So all code that reads and writes weights works for
both.

PyTorch's own code for parts takes a second to import, so only processes that hold parts do it.
"""

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeGuard

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dragoman.model.layer_norm import LayerNormalization, ScalarLayerNormalization
from dragoman.model.transformer import Transformer
from dragoman.training.config import Parallelism
from dragoman.training.distributed import rank, world_size

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

NORMS = (LayerNormalization, ScalarLayerNormalization)


def spread(
    module: nn.Module, transformer: Transformer, parallelism: Parallelism, *, dtype: torch.dtype
) -> nn.Module:
    """Let all processes train one model; call it before any optimizer sees the parameters.

    Args:
        module: what is called for the loss; it holds the transformer.
        transformer: the same on all processes.
        parallelism: whether each process holds all of the model, or a part.
        dtype: of matrix products.

    Returns:
        what to call instead of the module. Its gradients are averaged over the processes.
    """
    if world_size() == 1:
        return module
    if parallelism == "fsdp":
        return _sharded(module, transformer, dtype)
    # Buffers are left alone: the table of positions may have grown on one process only. The
    # argument that PyTorch 2.13 wants instead is unknown to earlier versions.
    warnings.filterwarnings("ignore", message="`broadcast_buffers` is deprecated")
    return DistributedDataParallel(module, broadcast_buffers=False)


def _sharded(module: nn.Module, transformer: Transformer, dtype: torch.dtype) -> nn.Module:
    """Let each process hold a part of each block; embeddings and all the rest are one more unit.

    Blocks are gathered in the number format of matrix products, which halves what bf16 sends, and
    gradients are added up in fp32. Norms stay in fp32; they are small, and all of them are gathered
    at once.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(next(transformer.parameters()).device.type, (world_size(),))
    policy = MixedPrecisionPolicy(
        param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False
    )
    blocks = nn.ModuleList([*transformer.encoder.blocks, *transformer.decoder.blocks])
    fully_shard([m for m in blocks.modules() if isinstance(m, NORMS)], mesh=mesh)
    for block in blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(module, mesh=mesh)
    return module


def without_gradient_sync(module: nn.Module) -> AbstractContextManager[None]:
    """Accumulate gradients locally until the last micro-batch of an update.

    Sharded ones do not accumulate: they would have to be whole.
    """
    if isinstance(module, DistributedDataParallel):
        return module.no_sync()
    return nullcontext()


def is_part(tensor: Tensor) -> "TypeGuard[DTensor]":
    """Recognise a `DTensor` without importing its class: no other tensor has this method."""
    return hasattr(tensor, "full_tensor")


def is_sharded(module: nn.Module) -> bool:
    """Tell whether this process holds only a part of the parameters."""
    return any(is_part(parameter) for parameter in module.parameters())


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes; each of them has to call this."""
    return tensor.full_tensor() if is_part(tensor) else tensor


def part_like(full: Tensor, tensor: Tensor) -> Tensor:
    """Take the part of a whole tensor that this process holds of another one; nothing is sent."""
    if not is_part(tensor):
        return full
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(
        full.to(tensor.device), tensor.device_mesh, tensor.placements, src_data_rank=None
    )


def gathered(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Collect whole tensors on the first process, in its main memory where they were sharded.

    Every process has to call this, but only the first gets the tensors. Elsewhere, one tensor at a
    time is whole.
    """
    found = {}
    for name, tensor in tensors.items():
        full = whole(tensor)
        if rank() == 0:
            found[name] = full.cpu() if is_part(tensor) else full
    return found
