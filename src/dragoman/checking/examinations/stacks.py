"""Examinations of blocks and stacks: what may depend on what (section 3.1)."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.checking.arguments import DECODER, ENCODER, NotCheckableError
from dragoman.checking.calls import bind, call, takes
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import (
    Check,
    S,
    T,
    Verdict,
    distance,
    random,
    same,
)
from dragoman.checking.examinations.residual import FIRST, in_block, pattern, silence
from dragoman.checking.examinations.whole import passed_on
from dragoman.checking.program import message_of

PADDING = Check(
    name="padding-is-invisible",
    finding="What stands in hidden positions has an influence on the others.",
    why="A translation then depends on how much padding its batch needs.",
    section="3.2.3",
)
CONTEXT = Check(
    name="context-is-visible",
    finding="A position does not depend on the others.",
    why="Without attention to its context a word is translated alone.",
    section="3.1",
)
FUTURE = Check(
    name="future-is-invisible",
    finding="A position of the decoder sees the words after it.",
    why="In training it copies the word that it should predict; in translation there is none yet.",
    section="3.1",
)
PAST = Check(
    name="past-is-visible",
    finding="A position of the decoder does not see the words before it.",
    why="The decoder forgets what it has already written.",
    section="3.1",
)
SOURCE = Check(
    name="source-is-read",
    finding="The decoder's output does not depend on the source.",
    why="It is a language model: it writes something fluent, whatever it is asked to translate.",
    section="3.1",
)
CROSSING = Check(
    name="cross-attention-roles",
    finding="Source and target are exchanged somewhere in cross-attention.",
    why="Queries come from the decoder; keys, values and their mask belong to the source.",
    section="3.2.3",
)
LAST_NORM = Check(
    name="stack-last-norm",
    finding="With the norm before each sublayer, there is none at the end of the stack.",
    why="The sum of all sublayers goes to the next part at whatever size it has grown to.",
    section="-",
)

BATCH = 2


def visible(length: int, *, hidden: int | None = None) -> Tensor:
    """Make the mask of a padded sentence: (batch, 1, length)."""
    mask = torch.ones(BATCH, 1, length, dtype=torch.bool)
    if hidden is not None:
        mask[:, :, hidden] = False
    return mask


def causal(length: int) -> Tensor:
    """Make the mask of a decoder: (batch, length, length)."""
    return torch.ones(BATCH, length, length, dtype=torch.bool).tril()


def changed(x: Tensor, position: int) -> Tensor:
    """Change one position."""
    other = x.clone()
    other[:, position] = random(x.size(0), x.size(-1), seed=9)
    return other


def write(workshop: Workshop, visible: Tensor, queries: int) -> Tensor:
    """Write a mask as the attention understands it.

    One that is the same for all sentences has a row for each query: PyTorch's requires that.
    """
    convention = workshop.accepted_convention
    rows = queries if convention.dimensions == 2 else visible.size(1)  # noqa: PLR2004
    return convention.mask(visible.expand(-1, rows, -1))


def encode(workshop: Workshop, module: Any, x: Tensor, mask: Tensor) -> Tensor:
    """Call a learner's encoder or a block of it."""
    with torch.no_grad():
        told = write(workshop, mask, x.size(1))
        return call(module, ENCODER, {"states": x, "mask": told})


def decode(
    workshop: Workshop,
    module: Any,
    x: Tensor,
    memory: Tensor,
    *,
    hidden: int | None = None,
    sees: Tensor | None = None,
) -> Tensor:
    """Call a learner's decoder or a block of it.

    A position of the source may be hidden; the target sees the past, or what is given.
    """
    length = x.size(1)
    source_mask = write(workshop, visible(memory.size(1), hidden=hidden), length)
    target_mask = write(workshop, causal(length) if sees is None else sees, length)
    given = {"states": x, "memory": memory}
    given |= {"source_mask": source_mask, "target_mask": target_mask}
    with torch.no_grad():
        return call(module, DECODER, given)


def _influence(one: Tensor, other: Tensor) -> str | None:
    return None if same(one, other) else f"the others change by up to {distance(one, other):.2g}"


def encoder_context(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Change the first word."""
    module = workshop.build(part)
    x = random(BATCH, S, SIZES.d_model)
    before = encode(workshop, module, x, visible(S))[:, 1:]
    after = encode(workshop, module, changed(x, 0), visible(S))[:, 1:]
    unmoved = "changing the first word changes nothing in the others"
    yield CONTEXT, unmoved if same(before, after, 1e-6) else None


def encoder_padding(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Change a hidden position; an attention that obeys no mask is itself to blame."""
    _ = workshop.convention
    module = workshop.build(part)
    if "mask" not in takes(module, ENCODER):
        raise NotCheckableError("what it does with padding: it takes no mask")
    x = random(BATCH, S, SIZES.d_model)
    mask = visible(S, hidden=S - 1)
    before = encode(workshop, module, x, mask)[:, :-1]
    after = encode(workshop, module, changed(x, S - 1), mask)[:, :-1]
    yield PADDING, _influence(before, after)


def decoder_sources(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Change the first word, then the source."""
    module = workshop.build(part)
    x = random(BATCH, T, SIZES.d_model)
    memory, error = _longest_memory(workshop, module, x)
    before = decode(workshop, module, x, memory)
    earlier = decode(workshop, module, changed(x, 0), memory)
    forgotten = "exchanging the first word changes nothing in the words after it"
    yield PAST, forgotten if same(before[:, 1:], earlier[:, 1:], 1e-6) else None
    _refuse_without_source(module)
    yield CROSSING, _exchanged(workshop, module, x, error) if error else None
    other = decode(workshop, module, x, changed(memory, 0))
    unread = "exchanging a word of the source changes nothing"
    yield SOURCE, unread if same(before, other, 1e-6) else None


def decoder_masks(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Change the last word, then a hidden position of the source."""
    _ = workshop.convention
    module = workshop.build(part)
    x = random(BATCH, T, SIZES.d_model)
    memory, error = _longest_memory(workshop, module, x)
    last = memory.size(1) - 1
    before = decode(workshop, module, x, memory, hidden=last)
    later = decode(workshop, module, changed(x, T - 1), memory, hidden=last)
    leak = _influence(before[:, :-1], later[:, :-1])
    yield FUTURE, leak and f"the last word is exchanged: {leak}"
    _refuse_without_source(module)
    if "source_mask" not in takes(module, DECODER):
        raise NotCheckableError("what it does with padding in the source: it takes no mask for it")
    if error is None:
        hidden = decode(workshop, module, x, changed(memory, last), hidden=last)
        yield PADDING, _influence(before, hidden)


def _takes_source(module: Any) -> bool:
    """Tell whether a decoder takes a source, by whatever name; that of a GPT takes none."""
    roles = ("memory", "states", "source_mask", "target_mask")
    return "memory" in bind(module, DECODER, {role: role for role in roles}).values()


def _refuse_without_source(module: Any) -> None:
    """Leave alone what a model of one sequence has for a decoder.

    Raises:
        NotCheckableError: it takes no source.
    """
    if not _takes_source(module):
        raise NotCheckableError(
            "what it does with a source: no argument of its forward is known to be one"
        )


def _longest_memory(
    workshop: Workshop, module: Any, x: Tensor
) -> tuple[Tensor, RuntimeError | None]:
    """Draw a source of another length or, if that stops the decoder, of the same."""
    memory = random(BATCH, S, SIZES.d_model, seed=2)
    try:
        decode(workshop, module, x, memory)
    except RuntimeError as error:
        return memory[:, :T], error
    return memory, None


def _exchanged(workshop: Workshop, module: Any, x: Tensor, error: RuntimeError) -> str:
    """Find out what is exchanged, with a source as long as the target."""
    memory = random(BATCH, T, SIZES.d_model, seed=2)
    other = changed(memory, T - 1)
    reaches = [
        not same(
            decode(workshop, module, x, memory, sees=sees)[:, 0],
            decode(workshop, module, x, other, sees=sees)[:, 0],
            1e-6,
        )
        for sees in (causal(T), torch.ones(BATCH, T, T, dtype=torch.bool))
    ]
    what = (
        "what the first word sees of the source depends on the target's mask"
        if reaches == [False, True]
        else "queries, keys and values are not from where they should be"
    )
    said = message_of(error)
    return (
        f"a source of {S} and a target of {T} words stop it ({said}); equal lengths run, but {what}"
    )


def residuals(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Make the sublayers return a constant, and see what is added to it."""
    module = workshop.build(part)
    biases = silence(module)
    for bias in biases:
        bias.data.copy_(pattern(len(bias)))
    x = 2 * random(BATCH, T, SIZES.d_model) + 0.3
    output = _look(workshop, part, module, x)
    num_sublayers = 3 if part == "DecoderBlock" and _takes_source(module) else 2
    for check, measured in in_block(biases, x, output, num_sublayers):
        if check is not FIRST or "ResidualConnection" not in workshop.found:  # which says so itself
            yield check, measured


def _look(workshop: Workshop, part: str, module: Any, x: Tensor) -> Tensor:
    """Call an encoder, a decoder or a block of either, with nothing hidden but the future."""
    if part.startswith("Encoder"):
        return encode(workshop, module, x, visible(T))
    return decode(workshop, module, x, random(BATCH, S, SIZES.d_model, seed=2))


def last_norm(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Make the sublayers return zero: what comes out has to be normalised."""
    module = workshop.build(part)
    for bias in silence(module):
        nn.init.zeros_(bias)
    x = 3 * random(BATCH, T, SIZES.d_model) + 0.7
    unmoved = same(_look(workshop, part, module, x), x)
    if unmoved and _is_normed_outside(workshop, part):
        raise NotCheckableError("whether a norm ends the stack: Transformer has it outside of it")
    yield LAST_NORM, "what goes in comes out as it is" if unmoved else None


def _is_normed_outside(workshop: Workshop, part: str) -> bool:
    """Tell whether a whole model passes the output of a stack to a norm."""
    outputs, normed = passed_on(
        workshop, workshop.found[part], lambda child: "norm" in type(child).__name__.lower()
    )
    return any(same(x, output) for x in normed for output in outputs)


OF_ENCODER_BLOCK = (encoder_context, encoder_padding, residuals)
OF_ENCODER = (encoder_context, encoder_padding, last_norm)
OF_DECODER_BLOCK = (decoder_sources, decoder_masks, residuals)
OF_DECODER = (decoder_sources, decoder_masks, last_norm)
