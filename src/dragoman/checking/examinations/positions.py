"""Examinations of positional encodings (section 3.5)."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.convention import REFUSED
from dragoman.checking.examinations.check import (
    Check,
    Verdict,
    distance,
    random,
    same,
    tokens,
)
from dragoman.checking.examinations.layout import reads_length_first
from dragoman.checking.program import message_of
from dragoman.model.positional_encoding import sinusoids

ADDED = Check(
    name="positions-added",
    finding="The positions are not added to the vectors.",
    why="The layers above expect the sum: a vector of the same width that has both.",
    section="3.5",
)
ALONE = Check(
    name="positions-alone",
    finding="It returns the positions, and does not add them to the vectors.",
    why="Whoever calls it has to add them to the vectors.",
    section="3.5",
    kind="note",
)
FORMULA = Check(
    name="positions-formula",
    finding="The positions are not the sinusoids of the paper.",
    why="Its wavelengths run from 2 pi to 10000 * 2 pi; with others, weights fit no other program.",
    section="3.5",
)
LEARNED = Check(
    name="positions-learned",
    finding="The positions are learned, not computed.",
    why="The paper found nearly identical results (table 3, row E); it ends at the longest one.",
    section="3.5",
    kind="note",
)
TRAINED = Check(
    name="positions-trained",
    finding="The sinusoids are a parameter, and change with training.",
    why="They are constants; weight decay also shrinks them.",
    section="3.5",
)
SCALED = Check(
    name="positions-scale",
    finding="The vectors are multiplied by sqrt(d_model) here, where the positions are added.",
    why="It works, as long as the embeddings do not do it, too.",
    section="3.4",
    kind="note",
)
LONGEST = Check(
    name="positions-longest",
    finding="A sentence that is longer than the table stops the program.",
    why="The table could grow: sinusoids exist for every position.",
    section="3.5",
    kind="note",
)
ODD = Check(
    name="positions-odd-width",
    finding="An odd width is refused with an error about shapes, not with a reason.",
    why="Sines and cosines come in pairs; an error that says so would save a search.",
    section="3.5",
    kind="note",
)
BUFFER = Check(
    name="positions-buffer",
    finding="The table is not a buffer.",
    why="It stays behind when the model is moved to a GPU, unless forward fetches it.",
    section="3.5",
    kind="note",
)

LENGTH = 9
_BATCH_FIRST = {"MultiHeadAttention", "EncoderBlock", "Encoder"}
"""Examined with the batch first: a program that has one of them is taken to be written that way."""

_ALONG_THE_BATCH = "; they are counted along the first dimension, which is the batch"


def _angles(angle: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Make an interleaved table from the angle of (position, pair)."""
    position = torch.arange(LENGTH, dtype=torch.float64)[:, None]
    pair = torch.arange(SIZES.d_model // 2, dtype=torch.float64)
    angles = angle(position, pair)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1).float()


def right_tables() -> Iterator[Tensor]:
    """Iterate over the conventions in use."""
    yield sinusoids(LENGTH, SIZES.d_model)
    yield sinusoids(LENGTH, SIZES.d_model, "marian")
    yield sinusoids(LENGTH, SIZES.d_model, "tensor2tensor")


def wrong_tables() -> Iterator[tuple[str, Tensor]]:
    """Iterate over known mistakes."""
    d = SIZES.d_model
    paper = sinusoids(LENGTH + 1, d)
    yield "the first position is 1, not 0", paper[1:]
    yield "there are sines only, and no cosines", paper[:-1, 0::2].repeat_interleave(2, dim=1)
    yield "sine and cosine are exchanged", paper[:-1].unflatten(1, (-1, 2)).flip(-1).flatten(1)
    exponents: tuple[tuple[str, Callable[[Tensor, Tensor], Tensor]], ...] = (
        (
            "the exponent is i / d_model, half of what it should be",
            lambda p, i: p * 1e4 ** (-i / d),
        ),
        (
            "the exponent is 4 i / d_model, as if i counted dimensions and were doubled again",
            lambda p, i: p * 1e4 ** (-4 * i / d),
        ),
        (
            "positions are multiplied by 10000^(2i/d), not divided",
            lambda p, i: p * 1e4 ** (2 * i / d),
        ),
        (
            "10000**2 * i / d_model is computed: the parentheses are missing",
            lambda p, i: p / 1e4**2 * i / d,
        ),
        ("the divisors are 10, 100, 1000, ...", lambda p, i: p * 10.0 ** (-i)),
        ("all dimensions have the same wavelength", lambda p, i: p + 0 * i),
        ("the base is 1000, not 10000", lambda p, i: p * 1e3 ** (-2 * i / d)),
        ("the base is 100, not 10000", lambda p, i: p * 1e2 ** (-2 * i / d)),
    )
    for said, angle in exponents:
        yield said, _angles(angle)
    of_each = torch.arange(d, dtype=torch.float64)
    position = torch.arange(LENGTH, dtype=torch.float64)[:, None]
    for said, exponent in (
        ("i counts dimensions, where it should count pairs of them", -2 * of_each / d),
        ("the cosine of a pair has another wavelength than its sine", -of_each / d),
    ):
        angles = position * 1e4**exponent
        yield said, torch.where(of_each.long() % 2 == 0, angles.sin(), angles.cos()).float()
    angles = (position * 1e4 ** (-2 * (of_each // 2) / d)).float()
    angles[0::2], angles[1::2] = angles[0::2].sin(), angles[1::2].cos()
    yield "sine and cosine take turns by positions, where they should by dimensions", angles


def formula(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Find what is added to each position, and compare it with the sinusoids."""
    module = workshop.build(part)
    if not _takes_words(module):
        return _of_vectors(workshop, module)
    if (table := _of_a_length(module)) is not None:
        return _alone(module, table, "it is given a length, and what comes out are positions alone")
    return _of_words(module)


def _of_vectors(workshop: Workshop, module: Any) -> Iterator[Verdict]:
    x = random(2, LENGTH, SIZES.d_model)
    with torch.no_grad():
        output = call(module, {}, {"states": x})
        of_zeros = call(module, {}, {"states": torch.zeros_like(x)})
    if of_zeros.shape[-2:] != x.shape[-2:]:
        yield ADDED, f"vectors of width {x.size(-1)} become {tuple(of_zeros.shape)}"
        return
    if not of_zeros.any():
        yield ADDED, "a zero vector stays zero wherever it stands"
        return
    if of_zeros.shape == x.shape and same(of_zeros, of_zeros[:, :1].expand_as(of_zeros)):
        yield _of_words_alike(workshop, of_zeros)
        return
    table = of_zeros.reshape(-1, LENGTH, SIZES.d_model)[0]
    if same(output, of_zeros):
        alone = "what comes out are the positions alone, whatever goes in"
        if output.shape == x.shape:
            yield ADDED, alone
            return
        yield from _alone(module, table, alone)
        return
    factor = 1.0 if same(output - table, x) else math.sqrt(SIZES.d_model)
    if not same(output - table, factor * x):
        yield ADDED, f"output minus positions differs from the input by {distance(output, x):.2g}"
        return
    yield ADDED, None
    yield SCALED, None if factor == 1.0 else f"they are multiplied by {factor:.4g}"
    yield from _compare(module, table)


def _takes_words(module: Any) -> bool:
    """Tell whether a module rejects vectors."""
    try:
        call(module, {}, {"states": random(1, 2, SIZES.d_model)})
    except REFUSED:
        return True
    return False


def _of_a_length(module: Any) -> Tensor | None:
    """Get the positions of a module that takes their number; None for any other."""
    with torch.no_grad(), suppress(*REFUSED, AttributeError):
        output = call(module, {}, {"length": LENGTH})
        return output.reshape(-1, LENGTH, SIZES.d_model)[0]
    return None


def _of_words(module: Any) -> Iterator[Verdict]:
    """Compare the output for words, if it is the same for all of them."""
    with torch.no_grad():
        one, other = (
            call(module, {}, {"tokens": tokens(2, LENGTH, SIZES.source_vocab, seed=seed)})
            for seed in (1, 2)
        )
    if one.shape[-2:] != (LENGTH, SIZES.d_model) or not same(one, other):
        raise NotCheckableError("its formula: it takes words, and gives more than positions")
    table = one.reshape(-1, LENGTH, SIZES.d_model)[0]
    yield from _alone(
        module, table, "what comes out are the positions alone, whatever the words are"
    )


def _alone(module: Any, table: Tensor, measured: str) -> Iterator[Verdict]:
    """Compare positions that the caller has to add."""
    yield ALONE, measured
    yield from _compare(module, table)


def _of_words_alike(workshop: Workshop, of_zeros: Tensor) -> Verdict:
    """Say why all words of a sentence get the same vector."""
    if same(of_zeros, of_zeros[:1].expand_as(of_zeros)):
        return FORMULA, "all words of a sentence get the same vector"
    others = workshop.found.keys() & _BATCH_FIRST
    if others and not any(reads_length_first(workshop, other) for other in others):
        return FORMULA, f"all words of a sentence get the same vector{_ALONG_THE_BATCH}"
    raise NotCheckableError(
        "its formula: it counts positions along the first dimension, which is right where that is "
        "the length, as in (length, batch, d_model)"
    )


def _compare(module: Any, table: Tensor) -> Iterator[Verdict]:
    trained = any(parameter.requires_grad for parameter in module.parameters())
    if any(same(table, right, 1e-3) for right in right_tables()):
        yield FORMULA, None
        yield TRAINED, "the table is among parameters()" if trained else None
        return
    if trained:
        yield LEARNED, "the table is a parameter with other values than sinusoids"
        return
    apart = distance(table, sinusoids(LENGTH, SIZES.d_model))
    measured = f"an entry of the first {LENGTH} positions is {apart:.2g} off"
    for said, wrong in wrong_tables():
        if same(table, wrong, 1e-3):
            yield FORMULA, f"{said}; {measured}"
            return
    yield FORMULA, measured


def limits(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Give a sentence that is too long, and a width that is odd."""
    roles = set(workshop.roles(part).values())
    module = workshop.build(part, length=4)
    if "length" in roles and not _takes_words(module):
        try:
            call(module, {}, {"states": random(1, 5, SIZES.d_model)})
        except Exception as error:
            yield LONGEST, f"at position 5 of a table of 4 it raises: {message_of(error)}"
        else:
            yield LONGEST, None
    if "d_model" in roles:
        try:
            workshop.build(part, d_model=7)
        except (ValueError, AssertionError):
            yield ODD, None
        except Exception as error:  # which one it is depends on how the table is filled
            yield ODD, f"at d_model=7 it raises: {message_of(error)}"
        else:
            yield ODD, None


def moves(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Look for tensors that a model does not know as its own."""
    plain = [name for name, value in vars(workshop.build(part)).items() if type(value) is Tensor]
    yield BUFFER, f"`{plain[0]}` is a tensor, but neither buffer nor parameter" if plain else None


EXAMINATIONS = (formula, limits, moves)
