"""Which engine runs a model."""

from dataclasses import dataclass
from importlib.util import find_spec
from shlex import quote
from typing import TYPE_CHECKING, get_args

from dragoman.decoding.config import SearchConfig
from dragoman.device import Precision
from dragoman.engines.ctranslate2_copy import COPY_NAME, fault_of_copy
from dragoman.engines.protocol import Engine, EngineError, EngineKind
from dragoman.engines.vocabulary_map import mixes_up
from dragoman.errors import UsageError
from dragoman.model_directory import ModelDirectory
from dragoman.model_directory.weights import WEIGHTS_NAME
from dragoman.tokenizers.pair import TokenizerPair

if TYPE_CHECKING:
    import torch

    from dragoman.shortlist.shortlist import Shortlist

NEEDED_BY_PYTORCH = ("torch", "jaxtyping")
"""Packages without which there is no engine on PyTorch; others that use it may have brought it."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """What computes, where and how; `Translator` says what each means."""

    engine: EngineKind = "auto"
    device: str = "auto"
    shortlist: bool = False
    precision: Precision = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, known in (("engine", get_args(EngineKind)), ("precision", get_args(Precision))):
            if getattr(self, name) not in known:
                raise UsageError(f"{name}={getattr(self, name)!r} is none of {', '.join(known)}")
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"threads={self.threads} should be at least 1")


def build_engine(
    directory: ModelDirectory,
    tokenizers: TokenizerPair,
    search: SearchConfig,
    settings: EngineSettings,
) -> Engine:
    """Load a model into the requested engine, or the one that suits it.

    Raises:
        UsageError: the named engine cannot do what else is requested.
        EngineError: the engine cannot be used.
    """
    if _choose_kind(directory, search, settings) == "pytorch":
        return build_pytorch_engine(directory, settings)
    if settings.precision != "auto":
        raise UsageError(
            f"precision {settings.precision} is for PyTorch; a copy for CTranslate2 has the one "
            "that it was exported with"
        )
    if settings.device not in ("auto", "cpu"):
        raise UsageError(f"CTranslate2 is used on the CPU here, not on {settings.device}")
    if search.samples:
        raise UsageError("CTranslate2 does not sample as Dragoman does; take engine pytorch")
    from dragoman.engines.ctranslate2 import CTranslate2Engine

    return CTranslate2Engine(
        directory,
        tokenizers,
        threads=settings.threads,
        shortlist=_load_shortlist(directory, settings),
    )


def describe_choice(
    directory: ModelDirectory, search: SearchConfig, settings: EngineSettings
) -> str:
    """Say what `build_engine` would compute with here, without loading it.

    Raises:
        DragomanError: there is no such device.
    """
    if _choose_kind(directory, search, settings) == "ctranslate2":
        return "ctranslate2"
    if (device := _device_of_pytorch(settings)) is None:
        return "pytorch, which is not installed"
    from dragoman.device import choose_precision

    dtype = str(choose_precision(settings.precision, device)).removeprefix("torch.")
    return f"pytorch on {device.type} in {dtype}"


def pytorch_computes_on(
    device: str, directory: ModelDirectory, search: SearchConfig, settings: EngineSettings
) -> bool:
    """Tell whether `build_engine` would take PyTorch on a kind of device here, without loading it.

    Raises:
        DragomanError: there is no such device.
    """
    if _choose_kind(directory, search, settings) == "ctranslate2":
        return False
    found = _device_of_pytorch(settings)
    return found is not None and found.type == device


def _device_of_pytorch(settings: EngineSettings) -> "torch.device | None":
    """Choose where PyTorch computes, if it is installed."""
    from dragoman.device import choose_device

    try:
        _import_pytorch()
    except ModuleNotFoundError:
        return None
    return choose_device(settings.device)


def _import_pytorch() -> None:
    """Import PyTorch, which takes longer than translating a sentence.

    Raises:
        ModuleNotFoundError: it is not installed.
        EngineError: it is installed, but part of it is missing, or it is for another machine.
    """
    try:
        import torch  # noqa: F401
    except (ImportError, OSError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            raise
        reason = " ".join(str(error).split())
        raise EngineError(f"PyTorch cannot be imported ({reason}); install it again") from error


def build_second_engine(directory: ModelDirectory, settings: EngineSettings) -> Engine | None:
    """Load a model into PyTorch, for what another engine cannot do.

    The result is None if PyTorch must not or cannot be used: whoever asked for an engine by name
    gets no other, it may not be installed, and a model may have been distributed as its copy for
    CTranslate2 alone.

    Raises:
        ModelError: the weights are damaged.
        EngineError: PyTorch is damaged.
    """
    if settings.engine != "auto" or not (directory.path / WEIGHTS_NAME).exists():
        return None
    if not all(map(find_spec, NEEDED_BY_PYTORCH)):
        return None
    return build_pytorch_engine(directory, settings)


def _choose_kind(
    directory: ModelDirectory, search: SearchConfig, settings: EngineSettings
) -> EngineKind:
    """Resolve "auto": to the copy for CTranslate2 if there is one and nothing needs PyTorch.

    How much there is to translate does not matter: on CPUs the copy was faster for single sentences
    and, except for the preset `base` on a CPU with AMX, as fast or faster for thousands
    (`benchmarks/translation_speed.md`).
    """
    if settings.engine != "auto":
        return settings.engine
    if search.samples or settings.device not in ("auto", "cpu"):
        return "pytorch"
    if settings.precision != "auto":
        return "pytorch"
    if settings.shortlist and mixes_up(directory.description.special_ids):
        return "pytorch"
    if fault_of_copy(directory) or (settings.device == "auto" and _pytorch_has_gpu()):
        return "pytorch"
    return "ctranslate2"


def fault_of_unused_copy(directory: ModelDirectory) -> str | None:
    """Say what is wrong with the copy for CTranslate2, if there is one that cannot be used."""
    return fault_of_copy(directory) if (directory.path / COPY_NAME).exists() else None


def _load_shortlist(directory: ModelDirectory, settings: EngineSettings) -> "Shortlist | None":
    """Read the model's shortlist, if it is to be used."""
    if not settings.shortlist:
        return None
    from dragoman.shortlist.file import load_shortlist

    return load_shortlist(directory)


def _pytorch_has_gpu() -> bool:
    """Tell whether there is a GPU that PyTorch can use; it is asked only if CTranslate2 sees one.

    Raises:
        EngineError: PyTorch is damaged.
    """
    import ctranslate2

    if ctranslate2.get_cuda_device_count() == 0:
        return False
    try:
        _import_pytorch()
    except ModuleNotFoundError:
        return False
    import torch

    return torch.cuda.is_available()


def _what_to_do_without_pytorch(directory: ModelDirectory) -> str:
    """Say how to translate all the same."""
    install = 'which pip install --editable ".[train]" installs where Dragoman was cloned'
    if directory.description.ensemble_of is not None:
        return f"translating with an ensemble needs PyTorch, {install}"
    if fault_of_copy(directory) is None:
        return (
            f"to sample, a GPU, a precision or engine pytorch needs PyTorch, {install}; the "
            "model's copy for CTranslate2 translates without these options"
        )
    return (
        f"translating needs PyTorch, {install}, or a copy for CTranslate2, which "
        f'"dragoman export {quote(str(directory.path))} --to ctranslate2" makes where PyTorch is'
    )


def build_pytorch_engine(directory: ModelDirectory, settings: EngineSettings) -> Engine:
    """Load a model into PyTorch, whose threads all models of a process share.

    Raises:
        EngineError: PyTorch is not installed, or damaged.
    """
    try:
        _import_pytorch()
        from dragoman.device import choose_device, choose_precision
        from dragoman.engines.pytorch import PyTorchEngine

        device = choose_device(settings.device)
    except ModuleNotFoundError as error:
        if error.name not in NEEDED_BY_PYTORCH:
            raise
        raise EngineError(_what_to_do_without_pytorch(directory)) from None
    if settings.threads is not None:
        import torch

        torch.set_num_threads(settings.threads)
    model = directory.load_model(str(device))
    special = directory.description.special_ids
    return PyTorchEngine(
        model.to(choose_precision(settings.precision, device)),
        special,
        forbidden_ids=directory.description.forbidden_ids,
        shortlist=_load_shortlist(directory, settings),
    )
