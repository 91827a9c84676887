"""Which engine runs a model."""

from shlex import quote
from typing import Literal

from dragoman.config import DragomanError, UsageError
from dragoman.decoding.config import SearchConfig
from dragoman.engines.protocol import Engine, EngineError
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.file import load_shortlist
from dragoman.tokenizers.pair import TokenizerPair

EngineKind = Literal["auto", "pytorch", "ctranslate2"]


def build_engine(
    directory: ModelDirectory,
    tokenizers: TokenizerPair,
    kind: EngineKind,
    device: str,
    search: SearchConfig,
    threads: int | None = None,
    *,
    shortlist: bool = False,
) -> Engine:
    """Load a model into the engine that was asked for, or that suits it.

    "auto" takes the copy for CTranslate2 if there is one, unless there is a GPU, the search samples
    or a shortlist is asked for. On a CPU it computes with so many threads; if it is not said, with
    all.

    Raises:
        UsageError: the engine that is named cannot do what else is asked for.
        EngineError: the engine cannot be used.
    """
    if kind == "auto":
        suits = not shortlist and _suits_ctranslate2(directory, device, search)
        kind = "ctranslate2" if suits else "pytorch"
    if kind == "pytorch":
        return build_pytorch_engine(directory, device, threads, shortlist=shortlist)
    if shortlist:
        raise UsageError(
            "CTranslate2 would let a sentence's translation depend on the other shortlists of its "
            "batch; take engine pytorch, or no shortlist"
        )
    if device not in ("auto", "cpu"):
        raise UsageError(f"CTranslate2 is used on the CPU here, not on {device}")
    from dragoman.engines.ctranslate2 import CTranslate2Engine

    return CTranslate2Engine(directory, tokenizers, threads=threads)


def build_second_engine(
    directory: ModelDirectory, kind: EngineKind, device: str, threads: int | None = None
) -> Engine | None:
    """Load a model into PyTorch, for what another engine cannot do; None if it must not or cannot.

    Whoever has asked for an engine by name gets no other.
    """
    if kind != "auto":
        return None
    try:
        return build_pytorch_engine(directory, device, threads)
    except DragomanError:
        return None


def _suits_ctranslate2(directory: ModelDirectory, device: str, search: SearchConfig) -> bool:
    """Tell whether there is a copy for CTranslate2 and nothing that needs PyTorch.

    PyTorch is not asked for a GPU, as it takes longer to import than a sentence to translate.
    """
    if search.samples or device not in ("auto", "cpu"):
        return False
    try:
        import ctranslate2

        from dragoman.engines.ctranslate2 import is_copied
    except ModuleNotFoundError:
        return False
    on_gpu = device == "auto" and ctranslate2.get_cuda_device_count() > 0
    return not on_gpu and is_copied(directory)


def build_pytorch_engine(
    directory: ModelDirectory,
    device: str,
    threads: int | None = None,
    *,
    shortlist: bool = False,
) -> Engine:
    """Load a model into PyTorch, whose threads all models of a process share.

    Raises:
        EngineError: PyTorch is not installed.
    """
    try:
        from dragoman.device import choose_device
        from dragoman.engines.pytorch import PyTorchEngine

        chosen = choose_device(device)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "jaxtyping"):
            raise
        raise EngineError(
            'translating needs PyTorch, which pip install "dragoman[train]" installs, or a copy '
            f'for CTranslate2, which "dragoman export {quote(str(directory.path))} --to '
            'ctranslate2" makes where PyTorch is'
        ) from None
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    special = directory.description.special_ids
    return PyTorchEngine(
        directory.load_transformer(str(chosen)),
        special,
        forbidden_ids=directory.description.forbidden_ids,
        shortlist=load_shortlist(directory) if shortlist else None,
    )
