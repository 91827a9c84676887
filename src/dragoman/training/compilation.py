"""Compiled blocks, for GPUs: everything between matrix products becomes a few kernels.

Norms, dropout, residuals and activations do little with each number that they read and write, so on
a GPU they wait for memory. Compiled together, they read and write once. The blocks are compiled,
not the model: all blocks of a kind share the compiled code, and embeddings, the loss and the search
stay as they are.
"""

import os
import shutil

import torch

from dragoman.errors import DragomanError
from dragoman.model.transformer import Transformer
from dragoman.training.config import TrainingConfig

MOST_COMPILATIONS = 64
"""For each kind of block. A batch of one sentence, or one whose sources are as long as its targets,
has code of its own; after the eight that PyTorch allows, blocks would run uncompiled."""

APART = {"triton.mix_order_reduction": False}
"""Sums over rows and over columns are kernels of their own: in one, PyTorch 2.11 reads row after
row, and the gradients of a norm take nearly three times as long."""


def require_compiler(config: TrainingConfig, device: torch.device) -> None:
    """Check for the compiler that `torch.compile` calls, before any long work.

    Blocks on a CPU become C++; for those on a GPU, Triton compiles what starts its kernels as C.

    Raises:
        DragomanError: blocks are to be compiled, and there is none.
    """
    if not config.compile:
        return
    if device.type == "cpu" and not _has_cpp_compiler():
        raise _missing("C++ compiler", install="g++", variable="CXX")
    if device.type == "cuda" and not _has_c_compiler():
        raise _missing("C compiler", install="gcc", variable="CC")


def _has_cpp_compiler() -> bool:
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        get_cpp_compiler()
    except InvalidCxxCompiler:
        return False
    return True


def _has_c_compiler() -> bool:
    """Look where Triton looks."""
    named = os.environ.get("CC")
    return any(map(shutil.which, [named] if named else ["gcc", "clang"]))


def _missing(compiler: str, *, install: str, variable: str) -> DragomanError:
    return DragomanError(
        f"training.compile = true needs a {compiler}, and there is none; install {install}, name "
        f"another in the variable {variable}, or leave the setting out"
    )


def compile_blocks(transformer: Transformer) -> None:
    """Compile all blocks, and the norm after them, in place, for batches of any shape.

    That happens when each is first called. Names and weights stay as they are.
    """
    torch._dynamo.config.recompile_limit = MOST_COMPILATIONS
    # PyTorch refuses options that it does not have.
    options = APART if set(APART) <= set(torch._inductor.list_options()) else None
    for stack in (transformer.encoder, transformer.decoder):
        for part in (*stack.blocks, stack.norm):
            part.compile(dynamic=True, options=options)
