"""`model.safetensors`: weights that are compared with the description before they are used."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.durable import checksum, open_file
from dragoman.model_directory.description import DESCRIPTION_NAME, ModelDescription, ModelError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.overrides import TorchFunctionMode

    from dragoman.model.ensemble import Ensemble
    from dragoman.model.transformer import Transformer

WEIGHTS_NAME = "model.safetensors"

_FLOATS = ("F32", "F16", "BF16")
_MEMBER = re.compile(r"^members\.\d+\.")
_MOST_COMPLAINTS = 5

Header = dict[str, tuple[str, tuple[int, ...]]]
"""The type and the shape of each tensor."""


def count_parameters(directory: Path) -> dict[str, int]:
    """Count the parameters of each part of a saved model; a shared table counts once.

    Those of an ensemble count together.

    Raises:
        ModelError: the weights are missing or damaged.
    """
    from safetensors import safe_open

    path = directory / WEIGHTS_NAME
    counts: Counter[str] = Counter()
    with explaining_damage(path), safe_open(path, framework="numpy") as weights:
        for name, (_, shape) in _read_header(weights).items():
            counts[_MEMBER.sub("", name).partition(".")[0]] += math.prod(shape)
    return counts


@contextmanager
def explaining_damage(path: Path) -> Iterator[None]:
    """Say in a sentence why a safetensors file cannot be read, if it cannot.

    Raises:
        ModelError: it is missing or damaged, or may never end.
    """
    from safetensors import SafetensorError

    try:
        open_file(path).close()  # safetensors would wait for a pipe
        yield
    except FileNotFoundError:
        raise ModelError(f"{path}: it is missing; copy the model again") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise ModelError(
            f"{path}: not a safetensors file, or a damaged one; copy it again: {error}"
        ) from error


def assemble(description: ModelDescription, weights: Any, path: Path) -> "Transformer | Ensemble":
    """Build the described model around the weights of the file, ready to translate.

    Args:
        description: Says what the weights should be.
        weights: An open safetensors file.
        path: Where it is, for messages.

    Raises:
        ModelError: the weights do not fit the description, are not those that were saved, or are
            not all numbers.
    """
    import torch

    header = _read_header(weights)
    _check_size(description, header, path)
    try:
        model = _build(description)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{path.parent / DESCRIPTION_NAME}: {error}") from error
    expected = dict(model.named_parameters())
    _check_tensors({name: tuple(p.shape) for name, p in expected.items()}, header, path)
    # Not before: it reads all of the file, which may pretend to any size.
    if checksum(path) != description.weights_sha256:
        raise ModelError(
            f"{path}: not the weights that {DESCRIPTION_NAME} describes; copy both again"
        )
    loaded = {
        parameter: torch.nn.Parameter(_read_tensor(weights, name, path), requires_grad=False)
        for name, parameter in expected.items()
    }
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, loaded[parameter])  # a shared table stays shared
    return model.eval()


def check_weights(
    description: ModelDescription, weights: Mapping[str, "Tensor"], path: Path
) -> None:
    """Refuse to write weights that `assemble` would refuse to read.

    Raises:
        ModelError: they do not fit the description.
    """
    model = _build(description)
    expected = {name: tuple(p.shape) for name, p in model.named_parameters()}
    _check_tensors(
        expected, {name: (_FLOATS[0], tuple(t.shape)) for name, t in weights.items()}, path
    )


def _build(description: ModelDescription) -> "Transformer | Ensemble":
    """Build the described model, its weights still without values."""
    from dragoman.model.ensemble import Ensemble
    from dragoman.model.transformer import Transformer

    with without_initialization():
        transformers = [
            Transformer(
                description.model,
                source_vocab_size=description.tokenizer.source_vocab_size,
                target_vocab_size=description.tokenizer.target_vocab_size,
                padding_id=description.special_ids.pad,
            )
            for _ in range(description.ensemble_of or 1)
        ]
    return transformers[0] if description.ensemble_of is None else Ensemble(transformers)


def without_initialization() -> "TorchFunctionMode":
    """Skip the initialization of weights that will be replaced, which saves time and memory.

    The device `meta` is meant for this, but makes PyTorch import its compiler, which takes seconds.
    """
    import torch
    from torch.nn import init
    from torch.overrides import TorchFunctionMode

    class WithoutInitialization(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func in (torch.Tensor.normal_, torch.Tensor.uniform_):
                return args[0]
            if getattr(func, "__module__", None) == init.__name__:
                return args[0] if args else kwargs["tensor"]
            return func(*args, **(kwargs or {}))

    return WithoutInitialization()


def _read_header(weights: Any) -> Header:
    """List the type and the shape of each tensor in the file, without reading any."""
    slices = {name: weights.get_slice(name) for name in weights.keys()}  # noqa: SIM118
    return {name: (part.get_dtype(), tuple(part.get_shape())) for name, part in slices.items()}


def _check_size(description: ModelDescription, header: Header, path: Path) -> None:
    """Refuse an architecture that is larger than the file, before anything of it is built."""
    config, tokenizer = description.model, description.tokenizer
    stored = sum(math.prod(shape) for _, shape in header.values())
    members = description.ensemble_of or 1
    layers = members * (config.num_encoder_layers + config.num_decoder_layers)
    vocab_sizes = (tokenizer.source_vocab_size, tokenizer.target_vocab_size)
    needed = members * (config.fewest_parameters + max(vocab_sizes) * config.d_model)
    special = vars(description.special_ids).values()
    if min(special) < 0 or max(special) >= min(vocab_sizes):
        raise ModelError(
            f"{path.parent / DESCRIPTION_NAME}: special_ids has an id that is not in vocabularies "
            f"of {vocab_sizes[0]} and {vocab_sizes[1]}"
        )
    if min(vocab_sizes) < 1 or layers > len(header) or needed > stored:
        raise ModelError(
            f"{path}: it holds {stored} parameters in {len(header)} tensors, but {layers} layers "
            f"of d_model={config.d_model} and d_ff={config.d_ff} for vocabularies of "
            f"{vocab_sizes[0]} and {vocab_sizes[1]} need at least {needed}"
        )


def _check_tensors(expected: dict[str, tuple[int, ...]], header: Header, path: Path) -> None:
    """Compare the header of the file with the architecture."""
    complaints = [f"{name} is missing" for name in expected if name not in header]
    for name, (dtype, shape) in header.items():
        if name not in expected:
            complaints.append(f"{name} is unexpected")
        elif shape != expected[name]:
            complaints.append(f"{name} has shape {list(shape)} instead of {list(expected[name])}")
        elif dtype not in _FLOATS:
            complaints.append(f"{name} has type {dtype}")
    if complaints:
        shown, hidden = complaints[:_MOST_COMPLAINTS], complaints[_MOST_COMPLAINTS:]
        more = f" and {len(hidden)} more" if hidden else ""
        raise ModelError(
            f"{path}: the weights do not fit the architecture: {', '.join(shown)}{more}"
        )


def _read_tensor(weights: Any, name: str, path: Path) -> "Tensor":
    """Copy a tensor out of the file, in single precision."""
    import torch

    # A copy, because the file may change under a tensor that is mapped into memory.
    tensor = weights.get_tensor(name).to(torch.float32, copy=True)
    if not tensor.isfinite().all():
        raise ModelError(f"{path}: {name} holds values that are not numbers; train it again")
    return tensor
