"""Generate the embedded corpus: distinct English-Italian pairs with gold word alignments.

The training split starts with the phrasebook, which is written by hand and has no alignments; the
rest comes from the grammar. The validation and test splits come from the grammar alone, and each
of their sentences combines two words that no training sentence combines, see ``splits.py``.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from dragoman.corpora.primer.grammar import derive
from dragoman.corpora.primer.spelling import Alignment, spell
from dragoman.corpora.primer.splits import Split, split_of_sentence
from dragoman.corpora.primer.tables import phrasebook
from dragoman.errors import DragomanError

_PATIENCE = 100_000
"""Draws in a row without a new sentence after which the grammar counts as exhausted."""


class PrimerError(DragomanError):
    """The embedded corpus cannot provide what is asked for."""


class AlignedPair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str
    alignment: Alignment
    """Links from a source word to a target word, counted from 0 over ``words`` of each text."""


def generate(num_pairs: int, *, seed: int, split: Split = "train") -> Iterator[AlignedPair]:
    """Generate pairs with distinct sources, the same for the same seed and split.

    Splits are disjoint, whatever their seeds.

    Raises:
        PrimerError: ``num_pairs`` is more than the grammar has.
    """
    return islice(_pairs(seed, split), num_pairs)


def _pairs(seed: int, split: Split) -> Iterator[AlignedPair]:
    """Yield the pairs of a split until the grammar is exhausted."""
    by_hand = phrasebook()
    if split == "train":
        for source, target in by_hand:
            yield AlignedPair(source, target, ())
    seen = {source for source, _ in by_hand}
    random = Random(f"{split} {seed}")
    idle = 0
    while idle <= _PATIENCE:
        idle += 1
        sentence, combinations = derive(random)
        if split_of_sentence(combinations) == split:
            source, target, alignment = spell(sentence)
            if source not in seen:
                seen.add(source)
                idle = 0
                yield AlignedPair(source, target, alignment)
    most = len(seen) if split == "train" else len(seen) - len(by_hand)
    raise PrimerError(f"the {split} split of the primer has no more pairs; ask for {most} or fewer")
