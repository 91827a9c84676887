"""Examinations of embeddings (section 3.4)."""

import math
import re
from collections.abc import Iterator

import torch
from torch import nn

from dragoman.checking.arguments import NotCheckableError
from dragoman.checking.calls import call
from dragoman.checking.construction import SIZES, Workshop
from dragoman.checking.examinations.check import Check, Verdict, random, same, tokens
from dragoman.checking.examinations.whole import passed_on
from dragoman.checking.words import words_in_class

SCALED = Check(
    name="embeddings-scaled",
    finding="The embeddings are not multiplied by sqrt(d_model).",
    why="Beside the sinusoids, whose size is fixed, words weigh more or less than they should.",
    section="3.4",
)
VARIANCE = Check(
    name="embeddings-variance",
    finding="At the start, the scaled embeddings are far larger than the positions.",
    why="PyTorch's table has variance 1; times sqrt(d_model), the sinusoids drown in it.",
    section="3.4",
    kind="note",
)
PADDING = Check(
    name="embeddings-padding",
    finding="No row of the table is kept at zero for padding.",
    why="Padding gets a vector that is learned; this does no harm as long as all masks hide it.",
    section="3.4",
    kind="note",
)

WIDE = 512
LARGEST_DEVIATION = 4.0
_OF_SCALING = re.compile(r"sqrt|scal|root|^0\.5$", re.IGNORECASE)
"""What occurs in the code of a model that may multiply by sqrt(d_model)."""


def scale(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Compare what comes out with the row of the table."""
    module = workshop.build(part)
    table = _table(module)
    ids = tokens(2, 5, SIZES.source_vocab)
    with torch.no_grad():
        output = call(module, {}, {"tokens": ids})
        rows = table(ids)
    factor = ((output * rows).sum() / (rows * rows).sum()).item()
    if not same(output, factor * rows):
        raise NotCheckableError("scale: what comes out is no multiple of a row of the table")
    root = math.sqrt(SIZES.d_model)
    is_plain = math.isclose(factor, 1, abs_tol=1e-3)
    if _scaled_later(workshop):
        again = f"they are multiplied by {factor:.4g}, and again where the positions are added"
        yield SCALED, None if is_plain else again
        return
    if is_plain and "Transformer" in workshop.found:
        factor = _factor_of_the_model(workshop)
    wrong = f"they are multiplied by {factor:.4g}, and sqrt({SIZES.d_model}) is {root:.4g}"
    yield SCALED, None if math.isclose(factor, root, rel_tol=1e-3) else wrong


def _scaled_later(workshop: Workshop) -> bool:
    """Tell whether the module of the positions multiplies, as some do."""
    if "PositionalEncoding" not in workshop.found:
        return False
    module = workshop.build("PositionalEncoding")
    x = random(1, 5, SIZES.d_model)
    with torch.no_grad():
        shift = call(module, {}, {"states": torch.zeros_like(x)})
        return same(call(module, {}, {"states": x}) - shift, x * math.sqrt(SIZES.d_model))


def _factor_of_the_model(workshop: Workshop) -> float:
    """Find by what a whole model multiplies the embeddings before it adds the positions.

    Raises:
        NotCheckableError: that cannot be measured, and its code has a root or a scale.
    """
    positions = workshop.found.get("PositionalEncoding")
    embedded, added_to = passed_on(
        workshop, workshop.found["InputEmbeddings"], lambda child: type(child) is positions
    )
    for factor in (1.0, math.sqrt(SIZES.d_model)):
        if any(same(x, factor * words) for x in added_to for words in embedded):
            return factor
    if any(map(_OF_SCALING.search, _words_around_embeddings(workshop))):
        raise NotCheckableError(
            "whether they are multiplied by sqrt(d_model): they are not in this part, and what "
            "Transformer does with them could not be measured"
        )
    return 1.0


def _words_around_embeddings(workshop: Workshop) -> Iterator[str]:
    """Iterate over the code of the whole and of its halves, which may have the embeddings."""
    for part in ("Transformer", "Encoder", "Decoder"):
        if part in workshop.found:
            yield from words_in_class(workshop.found[part])


def start(workshop: Workshop, part: str) -> Iterator[Verdict]:
    """Measure embeddings of the paper's width before any training."""
    module = workshop.build(part, d_model=WIDE, heads=8)
    table = _table(module)
    with torch.no_grad():
        deviation = call(module, {}, {"tokens": tokens(2, 9, SIZES.source_vocab)}).std().item()
    wrong = f"at d_model={WIDE} their standard deviation is {deviation:.1f}; that of sinusoids 0.7"
    yield VARIANCE, wrong if deviation > LARGEST_DEVIATION else None
    kept = table.padding_idx is not None or not bool(table.weight[0].any())
    yield PADDING, None if kept else "the embedding of id 0 is as long as any other"


def _table(module: nn.Module) -> nn.Embedding:
    tables = [child for child in module.modules() if isinstance(child, nn.Embedding)]
    if len(tables) != 1:
        raise NotCheckableError(f"its table ({len(tables)} nn.Embedding were found in it)")
    return tables[0]


EXAMINATIONS = (scale, start)
