"""Draw one of the possible segmentations of a text: subword regularisation, or BPE-dropout.

SentencePiece draws too, but not the same in every process. Here the draws depend on the model, the
text and the seed alone, so that an interrupted training run continues with the subwords that it
would have had.
"""

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Any, Protocol

WORD_BOUNDARY = "\u2581"  # how SentencePiece writes a space inside its pieces
_WORD = re.compile(f"{WORD_BOUNDARY}[^{WORD_BOUNDARY}]*|[^{WORD_BOUNDARY}]+")
_UNKNOWN_PENALTY = 10.0  # SentencePiece's: an unknown character is this much below the worst piece

_KEPT_WORDS = 2**14  # whose lattices are computed only once; some tens of megabytes
_LONGEST_KEPT = 24  # characters; longer words seldom come again

Lattice = list[tuple[list[int], list[float]]]
"""For each end 1, 2, ... of a part of a word: where its last piece may begin, and the cumulative
sums of values proportional to the probability that it begins there."""


class SubwordSampler:
    """Draws from the pieces and scores of a SentencePiece model with byte fallback.

    Only ordinary pieces are drawn, and bytes for characters that are not a piece of their own.
    """

    def __init__(self, processor: Any) -> None:
        """Read the vocabulary of a `SentencePieceProcessor`."""
        ids = list(range(processor.get_piece_size()))
        kinds = (processor.is_unknown, processor.is_control, processor.is_byte, processor.is_unused)
        special = map(any, zip(*(kind(ids) for kind in kinds), strict=True))
        ordinary = [i for i, is_special in zip(ids, special, strict=True) if not is_special]
        pieces = processor.id_to_piece(ordinary)
        self._normalise: Callable[[str], str] = processor.normalize
        self._ids = {piece: [i] for piece, i in zip(pieces, ordinary, strict=True)}
        scores = dict(zip(pieces, processor.get_score(ordinary), strict=True))
        self._cutter: Cutter = Unigram(scores) if _is_unigram(processor) else BPE(scores)
        self._byte_ids = processor.piece_to_id([f"<0x{byte:02X}>" for byte in range(256)])
        self._crosses_words = any(WORD_BOUNDARY in piece[1:] for piece in pieces)

    def sample(self, texts: Sequence[str], *, seed: int, strength: float) -> list[list[int]]:
        """Draw one segmentation of each text.

        Args:
            texts: As the model's own normalisation expects them.
            seed: Decides all draws; 0 or more.
            strength: For unigram, the exponent on the probability of a segmentation; for BPE, the
                probability that a merge is dropped.
        """
        chance = Random(seed)
        return [
            [
                i
                for word in self._words(text)
                for piece in self._cutter.draw(word, strength, chance)
                for i in self._ids.get(piece) or [self._byte_ids[byte] for byte in piece.encode()]
            ]
            for text in texts
        ]

    def _words(self, text: str) -> list[str]:
        """Cut where every segmentation is cut, unless the model has pieces of several words."""
        normal = self._normalise(text)
        return [normal] if self._crosses_words else _WORD.findall(normal)


class Cutter(Protocol):
    """Cuts words at random."""

    def draw(self, word: str, strength: float, chance: Random) -> Sequence[str]:
        """Return the pieces of a word; a character that is not a piece stands alone."""


class Unigram:
    """Draws a segmentation x with a probability proportional to P(x)^strength (Kudo 2018, 3.2).

    All segmentations are summed over from left to right (forward filtering); one is drawn from
    right to left (backward sampling).
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        """Take the log probability of each piece."""
        self._scores = scores
        self._unknown = min(scores.values()) - _UNKNOWN_PENALTY
        self._longest = max(map(len, scores))
        self._kept_lattice = lru_cache(_KEPT_WORDS)(self._lattice)

    def draw(self, word: str, strength: float, chance: Random) -> list[str]:
        """Return the pieces of a word."""
        find = self._kept_lattice if len(word) <= _LONGEST_KEPT else self._lattice
        lattice = find(word, strength)
        pieces = []
        end = len(word)
        while end:
            starts, sums = lattice[end - 1]
            start = starts[bisect(sums, chance.random() * sums[-1])]  # random() < 1
            pieces.append(word[start:end])
            end = start
        return pieces[::-1]

    def _lattice(self, word: str, strength: float) -> Lattice:
        lattice: Lattice = []
        forward = [0.0]  # log of the sum over all segmentations of the first characters
        for end in range(1, len(word) + 1):
            starts, weights = [], []
            for start in range(max(0, end - self._longest), end):
                score = self._scores.get(word[start:end])
                if score is None and start == end - 1:
                    score = self._unknown
                if score is not None:
                    starts.append(start)
                    weights.append(forward[start] + strength * score)
            highest = max(weights)
            sums = list(accumulate(math.exp(weight - highest) for weight in weights))
            forward.append(highest + math.log(sums[-1]))
            lattice.append((starts, sums))
        return lattice


class BPE:
    """Merges characters, and drops merges at random (Provilkov et al. 2020, algorithm 1).

    At each step, every possible merge is dropped with probability `strength`, and the best of the
    others is applied; the word is finished when none is left. Here merges are tried from the best
    down until one is not dropped, which is equivalent.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        """Take the pieces; those with higher scores are merged first, the leftmost among equals."""
        self._costs = {piece: -score for piece, score in scores.items()}

    def draw(self, word: str, strength: float, chance: Random) -> list[str]:
        """Return the pieces of a word."""
        pieces = list(word)
        costs = [self._cost(pieces, place) for place in range(len(pieces))]
        dropped: list[tuple[int, float]] = []
        while (cost := min(costs)) < math.inf:
            place = costs.index(cost)
            if chance.random() < strength:
                dropped.append((place, cost))
                costs[place] = math.inf
                continue
            for earlier, cost in dropped:  # every step drops anew
                costs[earlier] = cost
            dropped.clear()
            pieces[place] += pieces.pop(place + 1)
            del costs[place + 1]
            costs[place] = self._cost(pieces, place)
            if place:
                costs[place - 1] = self._cost(pieces, place - 1)
        return pieces

    def _cost(self, pieces: list[str], place: int) -> float:
        """Return the cost of merging a piece with the next one; infinite if that is not a piece."""
        if place + 1 == len(pieces):
            return math.inf
        return self._costs.get(pieces[place] + pieces[place + 1], math.inf)


def _is_unigram(processor: Any) -> bool:
    """Ask for the best segmentations, which only a unigram model can list."""
    try:
        processor.nbest_encode("", nbest_size=1)
    except RuntimeError:
        return False
    return True
