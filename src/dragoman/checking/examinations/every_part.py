"""What holds for each part: it runs, evaluates without chance, learns with all of its weights."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parameter import is_lazy

from dragoman.checking.arguments import NotCheckableError, parameters_of
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, distance, random, same
from dragoman.checking.examinations.layout import refuse_length_first
from dragoman.checking.examinations.probe import give, run

RUNS = Check(
    name="does-not-run",
    finding="The code stops with an error.",
    why="Mistakes that stand behind the place where it stops stay hidden until it runs.",
    section="-",
)
"""What every part has to do first."""

NAN = Check(
    name="output-is-nan",
    finding="Some of its output is not a number.",
    why="A softmax of nothing but -inf and a product of 0 and -inf are NaN, and so is the loss.",
    section="3.2.3",
)
RANDOM_EVALUATION = Check(
    name="evaluation-is-random",
    finding="In evaluation mode the same input gives different outputs.",
    why="Dropout that does not ask whether the module is in training also drops in translation.",
    section="5.4",
)
DROPOUT_IGNORED = Check(
    name="dropout-ignored",
    finding="Its argument for dropout has no effect.",
    why="Regularisation is switched on, and nothing is regularised.",
    section="5.4",
)
GRADIENTS = Check(
    name="weights-without-gradient",
    finding="Some of its weights get no gradient.",
    why="No output depends on them, so they never learn; often others are used in their place.",
    section="3",
)
OUTSIDE = Check(
    name="weights-from-outside",
    finding="It computes with a module that is not its own.",
    why="What is outside of parameters() is not trained, saved or moved, and all layers share it.",
    section="3.1",
)
WIDTH_IGNORED = Check(
    name="width-ignored",
    finding="Its argument for d_model has no effect.",
    why="A number or a global variable is used in its place; the model has one width only.",
    section="3.1",
)
ANY_ARGUMENT = Check(
    name="any-argument",
    finding="Its constructor takes arguments of any name, and forgets them.",
    why="A misspelt setting changes nothing, and nobody is told.",
    section="-",
    kind="note",
)
SHARED = Check(
    name="layers-are-independent",
    finding="The same layer stands in several places.",
    why="N references to one block have the weights of one; copy.deepcopy makes N blocks.",
    section="3.1",
)
BATCH = Check(
    name="sentences-are-independent",
    finding="The output for a sentence depends on the other sentences of its batch.",
    why="A mean, a softmax or a view goes over the wrong dimension.",
    section="3",
)

IN_PLACE = "a line such as `x += y` changes numbers that the gradient needs; `x = x + y` does not"

LAYERS = ("MultiHeadAttention", "FeedForward", "LayerNormalization")
"""Parts that have weights, and of which no two places share one."""

MOST_SHOWN = 4
"""Maximum number of names of weights in one sentence."""


def output_is_a_number(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Count what is not a number."""
    _, output = run(workshop, part)
    count = int(output.isnan().sum())
    yield NAN, f"{count} of {output.numel()} numbers are NaN" if count else None


def evaluation_is_not_random(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Build with much dropout, evaluate, and give the same input twice."""
    if part == "causal_mask":
        return
    module, first = run(workshop, part, dropout=0.5)
    if isinstance(module, nn.Module) and _plain_list(module):  # which eval() does not reach
        return
    apart = distance(give(workshop, part, module).nan_to_num(), first.nan_to_num())
    yield (
        RANDOM_EVALUATION,
        f"two outputs for the same input differ by up to {apart:.2g}" if apart else None,
    )


def dropout_has_an_effect(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Build with much dropout, train, and give the same input twice; then without, same seed."""
    if "dropout" not in workshop.roles(part).values():
        return
    module, _ = run(workshop, part, dropout=0.5)
    outputs = [give(workshop, part, module.train()) for _ in range(2)]
    if torch.equal(*outputs):
        measured = "in training, with a rate of 0.5, two outputs are the same to the last bit"
        yield DROPOUT_IGNORED, measured
        return
    with_each_rate = []
    for rate in (0.0, 0.5):
        module, _ = run(workshop, part, dropout=rate)
        torch.default_generator.manual_seed(0)
        with_each_rate.append(give(workshop, part, module.train()))
    measured = "in training, rates of 0 and of 0.5 give the same output to the last bit"
    yield DROPOUT_IGNORED, measured if torch.equal(*with_each_rate) else None


def all_weights_learn(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Propagate a random gradient, and see where it arrives.

    Other parts, which are examined on their own, are left out if they are used at all. Those that
    read words are not: of them, only a whole model shows what learns.
    """
    module = workshop.build(part)
    if not isinstance(module, nn.Module) or not any(p.requires_grad for p in module.parameters()):
        return
    with torch.enable_grad():  # the program may have ended with translations, and without gradients
        output = give(workshop, part, module)
        if not output.requires_grad:  # it may translate in evaluation mode
            output = give(workshop, part, module.train())
    try:
        if output.requires_grad:  # else gradients are turned off in its code
            output.backward(random(*output.shape, seed=3))
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
        yield RUNS, f"in training, `backward()` stops: {IN_PLACE}"
        return
    others = tuple(
        f"{name}."
        for name, child in module.named_modules()
        if name
        and type(child) in workshop.found.values()
        and not any(isinstance(layer, nn.Embedding) for layer in child.modules())
        and any(map(_learns, child.parameters()))
    )
    without = [
        name
        for name, parameter in module.named_parameters()
        if parameter.requires_grad and not name.startswith(others) and not _learns(parameter)
    ]
    shown = ", ".join(without[:MOST_SHOWN]) + (", ..." if len(without) > MOST_SHOWN else "")
    yield GRADIENTS, f"no gradient arrives at {shown}" if without else None


def _learns(parameter: nn.Parameter) -> bool:
    return parameter.grad is not None and bool(parameter.grad.any())


def all_weights_are_its_own(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Watch which modules are called, even if what follows fails."""
    module = workshop.build(part)
    if not isinstance(module, nn.Module):
        return
    own = {id(child) for child in module.modules()}
    strangers: list[str] = []

    def watch(called: nn.Module, inputs: Any) -> None:
        if id(called) not in own and any(True for _ in called.parameters()):
            strangers.append(type(called).__name__)

    with suppress(Exception):  # which is reported where the attention is examined
        _ = workshop.accepted_convention  # find it out before watching
    hook = register_module_forward_pre_hook(watch)
    try:
        give(workshop, part, module)
    except Exception:
        if not strangers:
            raise
    finally:
        hook.remove()
    if not strangers:
        yield OUTSIDE, None
        return
    name = _plain_list(module)
    why = f": `{name}` is a plain list, and should be an nn.ModuleList" if name else ""
    yield OUTSIDE, f"it calls a {strangers[0]} that is not among its modules(){why}"


def _plain_list(module: nn.Module) -> str | None:
    """Find an attribute that holds layers in a list of Python, which registers none of them."""
    own = list(module.modules())
    for name, value in (item for child in own for item in vars(child).items()):
        held = value if isinstance(value, list | tuple) else ()
        if any(isinstance(layer, nn.Module) and layer not in own for layer in held):
            return name
    return None


def width_has_an_effect(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Build it twice, the second time twice as wide."""
    if part == "causal_mask" or "d_model" not in workshop.roles(part).values():
        return
    shapes = [
        [
            tuple(p.shape)
            for p in workshop.build(part, d_model=width).parameters()
            if not is_lazy(p) and p.dim() > 1
        ]
        for width in (SIZES.d_model, 2 * SIZES.d_model)
    ]
    told = f"told {SIZES.d_model} and told {2 * SIZES.d_model}, its weights are {shapes[0][:2]}"
    if shapes[0]:
        yield WIDTH_IGNORED, told if shapes[0] == shapes[1] else None


def arguments_are_known(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Give a constructor of its own an argument that means nothing; another class may reject it."""
    parameters = parameters_of(workshop.factory(part))
    if parameters == parameters_of(nn.Module):
        return
    swallowing = [name for name, each in parameters.items() if each.kind is each.VAR_KEYWORD]
    is_rejected = True
    if swallowing:
        with suppress(Exception):
            workshop.build_with(part, {"an_argument_of_no_meaning": 1})
            is_rejected = False
    yield ANY_ARGUMENT, None if is_rejected else f"it has `**{swallowing[0]}`"


def layers_are_independent(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Look for weights that stand in two places; embeddings may be tied, and positions shared."""
    module = workshop.build(part)
    if not isinstance(module, nn.Module):
        return
    own = [workshop.found[each] for each in LAYERS if each in workshop.found]
    places: dict[int, list[str]] = {}
    for name, layer in module.named_modules(remove_duplicate=False):
        is_layer = isinstance(layer, nn.Linear | nn.LayerNorm) or type(layer) in own
        if is_layer and [*layer.parameters()]:
            places.setdefault(id(layer), []).append(name)
    named_twice = (names for names in places.values() if len(names) > 1)
    shared = next((x for x in named_twice if _num_calls(workshop, part, module, x[0]) > 1), None)
    if len(places) > 1:
        yield SHARED, f"{' and '.join(shared[:2])} are the same layer" if shared else None


def _num_calls(workshop: Workshop, part: str, module: nn.Module, name: str) -> int:
    """Count the calls of a layer: a second name may be one by which it is only held."""
    calls: list[str] = []
    hook = module.get_submodule(name).register_forward_hook(lambda *_: calls.append(name))
    try:
        give(workshop, part, module)
    finally:
        hook.remove()
    return len(calls)


def sentences_are_independent(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Give two sentences together, and one alone."""
    if part == "causal_mask":
        return
    module, together = run(workshop, part)
    alone = give(workshop, part, module, sentences=1)
    if alone.shape == together.shape:
        raise NotCheckableError("whether sentences are independent: its output has none apart")
    if alone.shape != together[:1].shape:
        refuse_length_first(workshop, part)
        yield BATCH, f"of two sentences and of one come {together.shape} and {alone.shape}"
        return
    apart = distance(alone, together[:1])
    if not same(alone, together[:1]):
        refuse_length_first(workshop, part)
    wrong = f"a sentence alone gives another output: they differ by up to {apart:.2g}"
    yield BATCH, None if same(alone, together[:1]) else wrong


OF_WHAT_FAILS = (all_weights_are_its_own, width_has_an_effect)
"""What may say why a part does not run."""

_WITHOUT_ITS_OUTPUT = (
    all_weights_are_its_own,
    width_has_an_effect,
    arguments_are_known,
    layers_are_independent,
)

OF_WHAT_IS_NAN = (output_is_a_number, *_WITHOUT_ITS_OUTPUT)
"""What can be examined in a part whose output cannot be compared with any other."""

OF_WHAT_IS_RANDOM = (evaluation_is_not_random, all_weights_learn, *_WITHOUT_ITS_OUTPUT)
"""What can be examined in a part whose output is random."""

OF_EVERY_PART = (
    output_is_a_number,
    evaluation_is_not_random,
    dropout_has_an_effect,
    all_weights_learn,
    *_WITHOUT_ITS_OUTPUT,
    sentences_are_independent,
)
