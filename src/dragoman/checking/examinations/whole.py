"""Calls a whole model, however it is divided into methods."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import DECODE, MODEL, NotCheckableError, parameters_of, roles_of
from dragoman.checking.calls import bind, call, call_by_name, first_tensor
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.convention import REFUSED, conventions
from dragoman.checking.examinations.check import S, T, exchange, random, same, tokens
from dragoman.checking.examinations.layout import refuse_length_first
from dragoman.checking.examinations.one_sequence import name_of_pair, predict, reads_one_sequence
from dragoman.checking.words import words_in

_PROJECTIONS = ("project", "generator", "projection", "projection_layer", "proj", "fc_out")
PADDING = 0
PADDING_IDS = (0, 1, 2, 3)
"""What may be padding to a model that makes its masks itself; none of these ids is ever a word."""

_OF_PADDING = re.compile("mask|len|pad")
"""What occurs in the name of an argument that tells of padding."""


def run_transformer(workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Call a model with source and target, and the masks that it asks for.

    One that leaves out the last word of the target itself is given a word more, and one that reads
    a single sequence is given the target.

    Returns:
        Logits or, if a model leaves the projection to others, states; (batch, target, ...).

    Raises:
        NotCheckableError: it has no embeddings and reads vectors.
    """
    try:
        return _run(workshop, model, source, target)
    except REFUSED:
        if _reads_vectors(workshop, model, source, target):
            raise NotCheckableError(
                "it reads vectors and has no embeddings, and only models of words are examined"
            ) from None
        raise


def _reads_vectors(workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor) -> bool:
    """Tell whether a model that stops at words has no embeddings, and does not stop at vectors."""
    if any(isinstance(part, nn.Embedding) for part in model.modules()):
        return False
    x, y = (random(*words.shape, SIZES.d_model) for words in (source, target))
    with suppress(Exception):  # the one of the words is told
        if takes_a_source(model):
            _call(workshop, model, x, y, _masks(workshop, model, source, target))
        else:
            model(y)
        return True
    return False


def _run(workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    if not takes_a_source(model):
        return predict(model, target)
    output = _call(workshop, model, source, target, _masks(workshop, model, source, target))
    if output.shape[:-1] != (target.size(0), target.size(1) - 1):
        return output
    longer = torch.cat([target, target[:, -1:]], dim=1)
    return _call(workshop, model, source, longer, _masks(workshop, model, source, longer))


def _call(
    workshop: Workshop,
    model: nn.Module,
    source: Tensor,
    target: Tensor,
    masks: Mapping[str, Tensor],
) -> Tensor:
    given = {"source": source, "target": target, **masks}
    if _has_forward(model):
        if pair := name_of_pair(model):
            return _call_with_pair(workshop, model, pair, source, target)
        told = bind(model, MODEL, given)
        if not {id(source), id(target)} <= {id(value) for value in told.values()}:
            raise NotCheckableError(
                "its forward takes no source and target, and only encoder-decoders are examined"
            )
        try:
            output = _by_sentence(call_by_name(model, told), target)
            return _projected(workshop, model, output)
        except TypeError:
            _refuse_more_arguments(model)
            raise
    encode, decode = (_method(model, name) for name in ("encode", "decode"))
    memory = call(encode, MODEL, {k: given[k] for k in ("source", "source_mask") if k in given})
    del given["source"]
    return _projected(workshop, model, call(decode, DECODE, {**given, "memory": memory}))


def _call_with_pair(
    workshop: Workshop, model: nn.Module, name: str, source: Tensor, target: Tensor
) -> Tensor:
    """Call a model whose only argument is taken apart into two.

    Raises:
        NotCheckableError: they are not source and target, as words and labels are not.
    """
    with suppress(*REFUSED, AttributeError):
        output = _by_sentence(call_by_name(model, {name: (source, target)}), target)
        if output.dim() > 2 and output.size(1) in (target.size(1), target.size(1) - 1):  # noqa: PLR2004
            return _projected(workshop, model, output)
    raise NotCheckableError(f"what `{name}` of its forward holds is not known")


def _by_sentence(output: Tensor, target: Tensor) -> Tensor:
    """Undo what some do for the loss: (batch * target, ...) becomes (batch, target, ...)."""
    batch, length = target.shape[:2]
    if output.dim() == 2 and len(output) in (batch * length, batch * (length - 1)):  # noqa: PLR2004
        return output.unflatten(0, (batch, -1))
    return output


def _refuse_more_arguments(model: nn.Module) -> None:
    """Leave alone a model that hands on arguments of which nobody knows what they are.

    Raises:
        NotCheckableError: its forward takes `*args`.
    """
    for name, parameter in parameters_of(model.forward).items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise NotCheckableError(f"what `*{name}` of its forward stands for is not known")


def _projected(workshop: Workshop, model: nn.Module, output: Tensor) -> Tensor:
    """Project what has not been projected yet, if the model knows how or has a layer for it."""
    if output.size(-1) != SIZES.d_model:
        return output
    named = (getattr(model, name, None) for name in _PROJECTIONS)
    ways: list[Any] = [*filter(callable, named), *_unused_heads(workshop, model)]
    return call(ways[0], {}, {"states": output}) if ways else output


def passed_on(
    workshop: Workshop, giver: Callable[..., Any], is_taker: Callable[[nn.Module], bool]
) -> tuple[list[Tensor], list[Tensor]]:
    """Run a whole model, and collect what one of its parts gives and what others take.

    What fails here is reported where the model is examined.
    """
    given: list[Tensor] = []
    taken: list[Tensor] = []
    with suppress(Exception):
        model = workshop.build("Transformer")
        for child in model.modules():
            if type(child) is giver:
                child.register_forward_hook(lambda _, x, output: given.append(first_tensor(output)))
            elif is_taker(child):
                child.register_forward_pre_hook(
                    lambda _, inputs: taken.extend(x for x in inputs if isinstance(x, Tensor))
                )
        source, target = tokens(2, S, SIZES.source_vocab), tokens(2, T, SIZES.target_vocab)
        with torch.no_grad():
            run_transformer(workshop, model, source, target)
    return given, taken


def _unused_heads(workshop: Workshop, model: nn.Module) -> Iterator[nn.Module]:
    """Find layers to the vocabulary that forward leaves to another method or to the program.

    If there is no forward, callers have to use what the model has.
    """
    methods = {**vars(type(model)), "__init__": None, "forward": None}
    used = {word for method in methods.values() if callable(method) for word in words_in(method)}
    used |= workshop.program.read_of_others
    for name, layer in model.named_children():
        is_a_head = isinstance(layer, nn.Linear) and layer.out_features == SIZES.target_vocab
        if is_a_head and (name in used or not _has_forward(model)):
            yield layer


def _masks(
    workshop: Workshop, model: nn.Module, source: Tensor, target: Tensor
) -> dict[str, Tensor]:
    """Write the masks that a model asks for; many make their own."""
    if not takes_masks(model):
        return {}
    length = target.size(1)
    seen = target.new_ones(length, length).bool().tril()
    visible = {
        "source_mask": (source != PADDING)[:, None],
        "target_mask": (target != PADDING)[:, None] & seen,
    }
    if "MultiHeadAttention" not in workshop.found:
        return _masks_of_others(workshop, model, source, target, visible)
    if workshop.known_convention is None:
        refuse_length_first(workshop, "Transformer")
    return {role: workshop.convention.mask(mask) for role, mask in visible.items()}


def _masks_of_others(
    workshop: Workshop,
    model: nn.Module,
    source: Tensor,
    target: Tensor,
    visible: Mapping[str, Tensor],
) -> dict[str, Tensor]:
    """Find the masks that hide the future from a model whose attention is not the learner's.

    No masks at all are tried first: if they are optional, the model may know what to do.
    """
    accepted: list[dict[str, Tensor]] = []
    errors: list[Exception] = []
    for masks in _ways_to_tell(visible):
        try:
            if not _sees_the_future(workshop, model, source, target, masks):
                return masks
            accepted.append(masks)
        except (*REFUSED, AttributeError) as error:
            errors.append(error)
    if len(accepted) > 1:  # it takes masks, but none of them hides anything
        return accepted[0]
    if not accepted and len({str(error) for error in errors}) == 1:  # not about masks
        raise errors[0]
    raise NotCheckableError("how it wants its masks was not found out")


def _ways_to_tell(visible: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    """Leave out all masks, then write them in every convention; PyTorch's need no source mask."""
    yield {}
    for convention in conventions():
        if convention.dimensions == 1:  # cannot hide the future
            continue
        written = {role: convention.mask(mask) for role, mask in visible.items()}
        yield written
        yield {"target_mask": written["target_mask"]}


def _sees_the_future(
    workshop: Workshop,
    model: nn.Module,
    source: Tensor,
    target: Tensor,
    masks: Mapping[str, Tensor],
) -> bool:
    """Replace the last word, and see whether earlier outputs change."""
    other = exchange(target, -1)
    training = model.training
    model.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            before, after = (
                _call(workshop, model, source, words, masks) for words in (target, other)
            )
    finally:
        model.train(training)
    return not same(before[:, :-1], after[:, :-1])


def is_not_told_of_padding(workshop: Workshop, model: nn.Module) -> bool:
    """Tell whether a model may be told of padding in a way that is not known."""
    parameters = parameters_of(_forward(model))
    roles = {name: role for name, role in _roles(model).items() if _OF_PADDING.search(name.lower())}
    if any(role is None and parameters[name].default is None for name, role in roles.items()):
        return True
    if "MultiHeadAttention" in workshop.found:
        return False
    return "source_mask" in roles.values()


_READINGS = {
    "visible": "sees what a mask marks with 1 or True",
    "hidden": "hides what a mask marks with 1 or True",
    "added": "adds a mask to the scores",
}
"""What an attention does with each kind of mask."""


def how_masks_are_read(workshop: Workshop, model: nn.Module) -> str:
    """Say what the learner's attention does with masks, if the model makes them itself.

    The two often do not agree.
    """
    if takes_masks(model) or "MultiHeadAttention" not in workshop.found:
        return ""
    convention = workshop.known_convention
    name = workshop.factory("MultiHeadAttention").__name__
    return f"; {name} {_READINGS[convention.meaning]}" if convention else ""


def takes_masks(model: nn.Module) -> bool:
    """Tell whether a model wants to be given its masks."""
    return not {"source_mask", "target_mask"}.isdisjoint(_roles(model).values())


def _roles(model: nn.Module) -> dict[str, str | None]:
    """Tell what the arguments of a model stand for."""
    return roles_of(_forward(model), MODEL)


def _forward(model: nn.Module) -> Callable[..., Any]:
    return model.forward if _has_forward(model) else _method(model, "decode")


def takes_a_source(model: nn.Module) -> bool:
    """Tell whether a model is more than one that reads a single sequence."""
    if not _has_forward(model) or name_of_pair(model):
        return True
    return not reads_one_sequence(model)


def _has_forward(model: nn.Module) -> bool:
    return type(model).forward is not nn.Module.forward


def _method(model: Any, name: str) -> Callable[..., Any]:
    method = getattr(model, name, None)
    if not callable(method):
        raise NotCheckableError(f"it has neither forward nor {name}")
    return method
