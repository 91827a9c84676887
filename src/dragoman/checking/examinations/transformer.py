"""Examinations of the whole model: what depends on what, and its loss at the start (section 3)."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import (
    Check,
    S,
    T,
    Verdict,
    distance,
    exchange,
    same,
    tokens,
)
from dragoman.checking.examinations.layout import refuse_length_first
from dragoman.checking.examinations.one_sequence import is_a_decoder, predict
from dragoman.checking.examinations.projection import (
    DIMENSION,
    PROBABILITIES,
    VOCABULARY,
    other_dimension,
    sum_to_one,
)
from dragoman.checking.examinations.stacks import FUTURE, PADDING, PAST, SOURCE
from dragoman.checking.examinations.whole import (
    PADDING_IDS,
    how_masks_are_read,
    is_not_told_of_padding,
    run_transformer,
    takes_a_source,
)

START = Check(
    name="model-start",
    finding="Before any training it is more wrong than guessing.",
    why="The weights begin too large, as with a table of variance 1 that is also the projection.",
    section="3.4",
)
ORDER = Check(
    name="order-is-visible",
    finding="The order of the words makes no difference.",
    why="Attention does not know what stands where; the positions have to tell it.",
    section="3.5",
)

LEAST_OF_PLACES = 0.01
"""What another place of a word changes at least, as a share of what another word changes, unless
it changes more than rounding does."""

ROUNDING = 1e-5
"""As a share of the largest output: without positions it is 2e-7, and with learned ones that begin
with 0.002 beside words of 5 it is 1e-4."""

WORST_START = 2.0
"""As a multiple of the loss of guessing."""


def information(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Replace words of source and target, and see what changes."""
    model = workshop.build(part)
    if not takes_a_source(model):
        yield from _of_one_sequence(workshop, model)
        return
    source, target = tokens(2, S, SIZES.source_vocab), tokens(2, T, SIZES.target_vocab, seed=2)
    with torch.no_grad():
        before = run_transformer(workshop, model, source, target)
        later = run_transformer(workshop, model, source, exchange(target, T - 1))
        earlier = run_transformer(workshop, model, source, exchange(target, 0))
        elsewhere = run_transformer(workshop, model, exchange(source, 0), target)
        reversed_ = run_transformer(workshop, model, source.flip(1), target)
        longer = min(
            (
                run_transformer(workshop, model, F.pad(source, (0, 3), value=padding), target)
                for padding in PADDING_IDS
            ),
            key=lambda output: distance(output, before),
        )
    other = other_dimension(before)
    yield DIMENSION, other
    reading = how_masks_are_read(workshop, model)
    if other is None:  # such a softmax lets each position see all others, whatever the mask is
        yield FUTURE, _leak(before[:, :-1], later[:, :-1], reading)
    forgotten = same(earlier[:, 1:], before[:, 1:], 1e-6)
    yield PAST, "exchanging the first word changes nothing after it" if forgotten else None
    unread = same(elsewhere, before, 1e-6)
    yield SOURCE, "exchanging a word of the source changes nothing" if unread else None
    if not unread:
        bag = _makes_no_difference(reversed_, elsewhere, before)
        yield ORDER, "a reversed source gives the same output" if bag else None
    if not same(longer, before) and is_not_told_of_padding(workshop, model):
        raise NotCheckableError("what it does with padding: how it wants to be told is not known")
    moved = f"3 more positions of padding change the output by up to {distance(longer, before):.2g}"
    yield PADDING, None if same(longer, before) else moved + reading


def _of_one_sequence(workshop: Workshop, model: nn.Module) -> Iterator[Verdict]:
    """Replace the last word, then the first, and see what changes."""
    refuse_length_first(workshop, "Transformer")
    words = tokens(2, T, SIZES.target_vocab)
    with torch.no_grad():
        before, later, earlier = (
            predict(model, x) for x in (words, exchange(words, T - 1), exchange(words, 0))
        )
    forgotten = same(earlier[:, 1:], before[:, 1:], 1e-6)
    yield PAST, "exchanging the first word changes nothing after it" if forgotten else None
    leak = _leak(before[:, :-1], later[:, :-1], "")
    if leak and not is_a_decoder(model):
        raise NotCheckableError(
            "whether it may see the words after a word, as it does: an encoder may, and a model "
            "that predicts the next word may not"
        )
    yield FUTURE, leak


def _leak(before: Tensor, later: Tensor, reading: str) -> str | None:
    """Say how far outputs change that stand before the word that was exchanged."""
    if same(later, before):
        return None
    leak = distance(later, before)
    return f"the last word is exchanged, and earlier outputs change by up to {leak:.2g}{reading}"


def order_of_the_target(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Swap two words of the target, with a decoder of one layer.

    A second layer could tell: the first one shows each position only the words before it.
    """
    model = workshop.build(part, layers=1)
    if len([*model.parameters()]) == len([*workshop.build(part).parameters()]):
        return
    source, target = tokens(2, S, SIZES.source_vocab), tokens(2, T, SIZES.target_vocab, seed=2)
    target[:, :2] = torch.tensor([4, 5])
    with torch.no_grad():
        before = run_transformer(workshop, model, source, target)
        after = run_transformer(workshop, model, source, target[:, [1, 0, 2, 3, 4]])
        other = run_transformer(workshop, model, source, target[:, [2, 0, 2, 3, 4]])
    if not same(other[:, 2:], before[:, 2:], 1e-6):  # else the past is forgotten
        told = "the first two words of the target change places, and nothing changes after them"
        bag = _makes_no_difference(after[:, 2:], other[:, 2:], before[:, 2:])
        yield ORDER, told if bag else None


def _makes_no_difference(moved: Tensor, exchanged: Tensor, before: Tensor) -> bool:
    """Tell whether places change next to nothing, where even words may do little."""
    share = distance(moved, before) / distance(exchanged, before)
    return same(moved, before, ROUNDING if share < LEAST_OF_PLACES else 1e-6)


def start(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Measure the loss before any training."""
    model = workshop.build(part)
    source, target = tokens(8, S, SIZES.source_vocab), tokens(8, T, SIZES.target_vocab, seed=2)
    with torch.no_grad():
        logits = run_transformer(workshop, model, source, target)
    if logits.size(-1) == SIZES.source_vocab:
        yield VOCABULARY, "at its end are as many numbers as the vocabulary of the source has"
    if logits.size(-1) != SIZES.target_vocab:
        return
    yield PROBABILITIES, "the numbers of a position sum to one" if sum_to_one(logits) else None
    labels = tokens(8, T, SIZES.target_vocab, seed=3)
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()
    guess = math.log(SIZES.target_vocab)
    worse = f"its loss is {loss:.1f}; that of guessing is ln({SIZES.target_vocab}) = {guess:.1f}"
    yield START, worse if loss > WORST_START * guess else None


EXAMINATIONS = (information, order_of_the_target, start)
