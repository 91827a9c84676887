"""Which target tokens translate a source token (IBM Model 1; Brown et al. 1993, section 4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dragoman.batched import batched

ITERATIONS = 5
"""Of expectation-maximisation; the order of the best translations hardly changes after them."""

PAIRS_AT_ONCE = 4096
"""Sentence pairs whose pairings are processed at once."""

TokenPairs = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Sentences and their translations, as token ids without BOS and EOS."""


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The probability t(f | e) that a source token e is translated by a target token f.

    There is an entry for every two tokens that occur in some sentence pair; all others are 0.
    Entries are sorted by e, then by f.
    """

    sources: npt.NDArray[np.int64]
    """The token e of each entry."""

    targets: npt.NDArray[np.int64]
    """Its token f."""

    probabilities: npt.NDArray[np.float64]
    """For each e, they sum to 1."""

    def best(self, count: int, num_sources: int, filling: int) -> npt.NDArray[np.int32]:
        """List the most probable translations of each source token, the best first.

        Args:
            count: How many.
            num_sources: Number of source tokens; NULL and higher ids are left out.
            filling: What fills the row of a token that has fewer translations.

        Returns:
            An array of shape (num_sources, count), or narrower if no token has that many.
        """
        order = np.lexsort((-self.probabilities, self.sources))  # stable, so of equals the first
        first = np.searchsorted(self.sources, self.sources)  # the order keeps each e in its place
        ranks = np.arange(len(order)) - first
        count = min(count, int(ranks.max()) + 1)
        sources, targets = self.sources[order], self.targets[order]
        chosen = (ranks < count) & (sources < num_sources)
        best = np.full((num_sources, count), filling, dtype=np.int32)
        best[sources[chosen], ranks[chosen]] = targets[chosen]
        return best


class _Block(NamedTuple):
    """All pairings of a target token with a token of its source sentence, or with NULL.

    Those of one target token of one sentence are next to each other.
    """

    keys: npt.NDArray[np.int64]
    """The distinct pairs of tokens, in order: e * num_targets + f."""

    places: npt.NDArray[np.int32]
    """For each pairing, the index of its key."""

    begins: npt.NDArray[np.int64]
    """Where the pairings of each target token begin."""

    lengths: npt.NDArray[np.int64]
    """How many pairings each target token has."""


def learn_lexicon(pairs: TokenPairs, *, num_sources: int, num_targets: int) -> Lexicon:
    """Learn a lexicon from sentence pairs by expectation-maximisation.

    Each target token comes from one token of the source, or from NULL, which every source sentence
    has once. It takes four bytes of memory for each pairing of two tokens of a sentence pair.

    Args:
        pairs: At least one pair of which neither side is empty.
        num_sources: Entries of the source vocabulary; this number is the id of NULL.
        num_targets: Entries of the target vocabulary.
    """
    full = (pair for pair in pairs if pair[0] and pair[1])
    blocks = [_pair(block, num_sources, num_targets) for block in batched(full, PAIRS_AT_ONCE)]
    keys = np.sort(np.concatenate([block.keys for block in blocks]))
    entries = keys[np.diff(keys, prepend=-1) > 0]
    sources, targets = np.divmod(entries, num_targets)
    probabilities = _normalise(np.ones(len(entries)), sources)
    for _ in range(ITERATIONS):
        expected = np.zeros(len(entries))
        for block in blocks:
            here = np.searchsorted(entries, block.keys)
            expected[here] += _expect(block, probabilities[here])
        probabilities = _normalise(expected, sources)
    return Lexicon(sources=sources, targets=targets, probabilities=probabilities)


def _pair(pairs: TokenPairs, num_sources: int, num_targets: int) -> _Block:
    """Pair each target token of some sentence pairs with everything that it can come from."""
    sources = np.array([token for source, _ in pairs for token in (num_sources, *source)])
    targets = np.array([token for _, target in pairs for token in target])
    num_choices = np.array([1 + len(source) for source, _ in pairs])
    num_targets_each = [len(target) for _, target in pairs]
    lengths = np.repeat(num_choices, num_targets_each)
    begins = lengths.cumsum() - lengths
    first = np.repeat(num_choices.cumsum() - num_choices, num_targets_each)
    choices = np.arange(int(lengths.sum())) + np.repeat(first - begins, lengths)
    keys, places = np.unique(
        sources[choices] * num_targets + np.repeat(targets, lengths), return_inverse=True
    )
    return _Block(keys, places.astype(np.int32), begins, lengths)


def _expect(block: _Block, probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute the expected number of times that each key was used (equation 17)."""
    of_pairings = probabilities[block.places]
    sums = np.add.reduceat(of_pairings, block.begins)
    shares = of_pairings / np.repeat(sums, block.lengths)
    return np.asarray(np.bincount(block.places, shares), dtype=np.float64)


def _normalise(
    counts: npt.NDArray[np.float64], sources: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Divide the counts of each source token by their sum."""
    return counts / np.bincount(sources, counts)[sources]
