"""Calls a learner's part with what the names of its arguments ask for."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import (
    ATTENTION,
    NotCheckableError,
    Roles,
    is_of_attention,
    is_required,
    parameters_of,
    roles_of,
)
from dragoman.checking.convention import REFUSED, Convention, conventions, find_convention


def call(function: Callable[..., Any], roles: Roles, given: Mapping[str, Any]) -> Tensor:
    """Call a function with what its arguments stand for.

    A required argument whose name is not known gets the one thing that is left over. Masks that are
    not given are None. Tensors are copied, because `x += ...` changes an argument in place.

    Returns:
        The first tensor of what it returns.

    Raises:
        NotCheckableError: an argument is not understood, or no tensor comes back.
    """
    copies = {id(x): x.clone() for x in given.values() if isinstance(x, Tensor)}
    arguments = bind(function, roles, given)
    return call_by_name(function, {k: copies.get(id(x), x) for k, x in arguments.items()})


def call_by_name(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Tensor:
    """Call a function with arguments of these names; what has to be, is given by position."""
    named = dict(arguments)
    by_position = [
        named.pop(name, parameter.default)
        for name, parameter in parameters_of(_signature_of(function)).items()
        if parameter.kind is parameter.POSITIONAL_ONLY
    ]
    return first_tensor(function(*by_position, **named))


def bind(function: Callable[..., Any], roles: Roles, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arrange what is given by the names of a function's arguments."""
    parameters = parameters_of(_signature_of(function))
    found = _without_labels(roles_of(_signature_of(function), roles), parameters)
    for told in given:
        _refuse_doubt(told, found, parameters)
    left = [role for role in given if role not in found.values() and "mask" not in role]
    arguments: dict[str, Any] = {}
    for name, role in found.items():
        if role is not None and role in given:
            arguments[name] = given[role]
        elif role is not None and "mask" in role and is_required(parameters[name]):
            arguments[name] = None
        elif is_required(parameters[name]):
            if not left:
                raise NotCheckableError(f"what `{name}` of its forward stands for is not known")
            arguments[name] = given[left.pop(0)]
    return arguments


def _without_labels(
    found: dict[str, str | None], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, str | None]:
    """Leave out an optional `targets` beside a required `tgt`: a loss is computed from it."""
    targets = [name for name, role in found.items() if role == "target"]
    required = [name for name in targets if is_required(parameters[name])]
    labels = {*targets} - {*required} if len(required) == 1 else set()
    return {name: None if name in labels else role for name, role in found.items()}


def _refuse_doubt(
    told: str, found: Mapping[str, str | None], parameters: Mapping[str, inspect.Parameter]
) -> None:
    """Refuse to guess which of two arguments is meant.

    A mask whose name is not known is not left out either: its part would seem to ignore it.
    """
    alike = [name for name, meaning in found.items() if meaning == told]
    if "mask" in told:
        unknown = [name for name, role in found.items() if role is None and "mask" in name.lower()]
        if unknown and not alike:
            raise NotCheckableError(f"what `{unknown[0]}` of its forward stands for is not known")
        alike = [name for name in alike if is_required(parameters[name])]
    if told in ("states", "memory"):  # which a block may take as queries, keys and values
        alike = [name for name in alike if not is_of_attention(name)]
    if len(alike) > 1:
        raise NotCheckableError(f"`{alike[0]}` and `{alike[1]}` look like the same thing")


def takes(function: Callable[..., Any], roles: Roles) -> set[str]:
    """Tell which roles a function has arguments for."""
    return {role for role in roles_of(_signature_of(function), roles).values() if role}


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Call a learner's attention; (batch, length, d_model) each.

    If it cannot do without a mask, it is given one that hides nothing.
    """
    given = {"query": query, "key": key, "value": value}
    try:
        return call(module, ATTENTION, given if mask is None else {**given, "mask": mask})
    except (TypeError, AttributeError):  # of what is done with None
        if mask is not None or "mask" not in takes(module, ATTENTION):
            raise
        visible = torch.ones(query.size(0), query.size(1), key.size(1), dtype=torch.bool)
        convention = attention_convention(module, key) or accepted_convention(module, key)
        if convention is None:
            raise
        return call(module, ATTENTION, {**given, "mask": convention.mask(visible)})


def attends_elsewhere(module: nn.Module) -> bool:
    """Tell whether an attention takes keys and values of their own."""
    return {"query", "key", "value"} <= takes(module, ATTENTION)


def attention_convention(module: nn.Module, x: Tensor) -> Convention | None:
    """Find out how an attention wants its masks; x is (batch, length, d_model)."""
    if "mask" not in takes(module, ATTENTION):
        return None

    def to_memory(memory: Tensor, mask: Tensor) -> Tensor:
        if attends_elsewhere(module):
            return attend(module, x[:, :-2], memory, memory, mask)
        return attend(module, memory, memory, memory, mask)[:, :-2]

    queries = x.size(1) - 2 if attends_elsewhere(module) else x.size(1)
    return find_convention(to_memory, x, queries=queries)


def accepted_convention(module: nn.Module, x: Tensor) -> Convention | None:
    """Find masks that an attention takes, whatever it does with them.

    If all positions get the same, they may all be hidden: other masks are preferred.
    """
    visible = torch.ones(x.size(0), x.size(1), x.size(1), dtype=torch.bool)
    accepted = []
    for convention in conventions():
        with suppress(*REFUSED):
            output = attend(module, x, x, x, convention.mask(visible))
            if output.shape == x.shape and output.isfinite().all():
                accepted.append(convention)
                if not torch.allclose(output[:, 0], output[:, 1], atol=1e-5):
                    return convention
    return accepted[0] if accepted else None


def block_convention(module: nn.Module, roles: Roles, x: Tensor) -> Convention | None:
    """Find out how a block or a stack wants its masks, if its attention is not the learner's."""
    own = "mask" if "mask" in roles else "target_mask"
    given = {"memory": x} if "memory" in roles else {}
    if own not in takes(module, roles):
        return None

    def look(states: Tensor, mask: Tensor) -> Tensor:
        return call(module, roles, {"states": states, own: mask, **given})[:, :-2]

    return find_convention(look, x, queries=x.size(1))


def first_tensor(result: Any) -> Tensor:
    """Find the states in what a part returns, perhaps after a loss or before attention weights."""
    found = list(_tensors(result))
    if not found:
        raise NotCheckableError(f"its forward returns {type(result).__name__}, not a tensor")
    return next((tensor for tensor in found if tensor.dim()), found[0])


def _tensors(result: Any) -> Iterator[Tensor]:
    """Iterate over what a part returns, also by name."""
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, Mapping):
        yield from _tensors([*result.values()])
    elif isinstance(result, tuple | list):
        for each in result:
            yield from _tensors(each)


def _signature_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `forward` of a module, because its own call takes anything."""
    forward = getattr(function, "forward", None)
    return forward if callable(forward) else function
