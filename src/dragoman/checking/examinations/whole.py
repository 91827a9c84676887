"""Calls a whole model, as it is cut into methods."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from dragoman.checking.arguments import DECODE, MODEL, NotCheckableError
from dragoman.checking.calls import call, takes
from dragoman.checking.workshop import SIZES, Workshop

_PROJECTIONS = ("project", "generator", "projection", "projection_layer", "proj", "fc_out")
PADDING = 0
PADDING_IDS = (0, 1, 2, 3)
"""What is padding to a model that makes its masks itself; no other id of these is ever a word."""


def run_transformer(workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Give a model source and target, and what masks it asks for.

    Returns:
        Logits or, of a model that leaves the projection to others, states; (batch, target, ...).
    """
    given = {"source": source, "target": target, **_masks(workshop, model, source, target)}
    if type(model).forward is not nn.Module.forward:
        return _projected(model, call(model, MODEL, given))
    encode, decode = (_method(model, name) for name in ("encode", "decode"))
    memory = call(encode, MODEL, {k: given[k] for k in ("source", "source_mask") if k in given})
    del given["source"]
    return _projected(model, call(decode, DECODE, {**given, "memory": memory}))


def _projected(model: nn.Module, output: Tensor) -> Tensor:
    """Project what has not been projected yet, if the model knows how."""
    for name in _PROJECTIONS:
        project = getattr(model, name, None)
        if callable(project) and output.size(-1) == SIZES.d_model:
            return call(project, {}, {"states": output})
    return output


def _masks(
    workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor
) -> dict[str, Tensor]:
    """Write the masks that a model asks for; many make their own."""
    if not makes_no_masks(model):
        return {}
    length = target.size(1)
    seen = target.new_ones(length, length).bool().tril()
    return {
        "source_mask": workshop.convention.mask((source != PADDING)[:, None]),
        "target_mask": workshop.convention.mask((target != PADDING)[:, None] & seen),
    }


def makes_no_masks(model: nn.Module) -> bool:
    """Tell whether a model wants to be given its masks."""
    has_forward = type(model).forward is not nn.Module.forward
    wanted = takes(model if has_forward else _method(model, "decode"), MODEL)
    return bool(wanted & {"source_mask", "target_mask"})


def _method(model: Any, name: str) -> Callable[..., Any]:
    method = getattr(model, name, None)
    if not callable(method):
        raise NotCheckableError(f"it has neither forward nor {name}")
    return method
