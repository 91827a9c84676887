"""Attention in a search on a GPU: few queries, the prefixes of a sentence, look at a cache.

PyTorch's kernels are made for many queries. They convert the mask, and compute 64 or 128 queries at
a time, there or not; so thousands of sentences with four prefixes each take seven times as long as
it takes to read their keys and values once, as the kernel of our own in
`dragoman.kernels.few_queries` does.
"""

import functools
import logging

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from dragoman.kernels import HAS_TRITON
from dragoman.model.softmax import REGISTER
from dragoman.model.tile_attention import WIDTHS, empty_heads

FORMATS = (torch.bfloat16, torch.float16, torch.float32)

log = logging.getLogger(__name__)


def are_few(
    queries: Float[Tensor, "rows heads queries d_k"],
    mask: Bool[Tensor, "_rows _heads _queries memory"],
) -> bool:
    """Tell whether `attend_with_few` takes such queries; nothing that is learnt from is taken.

    A source has at least `REGISTER` places in a search, so that its own attention is computed in
    the same way whichever sentences it is batched with.
    """
    return (
        queries.is_cuda
        and queries.size(2) < REGISTER
        and mask.size(1) == 1
        and queries.dtype in FORMATS
        and queries.size(3) in WIDTHS
        and not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and is_usable(queries.device, queries.dtype, queries.size(3))
    )


def attend_with_few(
    queries: Float[Tensor, "rows heads queries d_k"],
    keys: Float[Tensor, "rows heads memory d_k"],
    values: Float[Tensor, "rows heads memory d_k"],
    mask: Bool[Tensor, "#rows 1 #queries memory"],
) -> Float[Tensor, "rows heads queries d_k"]:
    """Compute softmax(Q K^T / sqrt(d_k)) V, equation 1, where the mask is true."""
    from dragoman.kernels.few_queries import attend_to_cache

    found = empty_heads(queries)
    with torch.cuda.device_of(queries):  # Triton computes on the current one
        attend_to_cache(queries, keys, values, mask, found)
    return found


@functools.cache
def is_usable(device: torch.device, dtype: torch.dtype, width: int) -> bool:
    """Try the kernel once for such queries.

    Triton needs a C compiler, Python's headers and a place for files, and not every GPU computes in
    every format.
    """
    if not HAS_TRITON:
        return False
    one = torch.ones(1, 1, 1, width, dtype=dtype, device=device)
    try:
        attend_with_few(one, one, one, torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device))
    except torch.OutOfMemoryError:  # says nothing about the kernel; there may be more later
        raise
    except Exception as error:  # whatever a compiler or a file system may say
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        log.warning("translation uses slower kernels, as Triton could not compile ours: %s", reason)
        return False
    return True
