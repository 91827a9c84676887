"""One sentence in the making: its random choices, its links and its lexical combinations."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")

Token = tuple[str, int]
"""Words that stand together, and a bit mask: two tokens that share a bit are linked."""
Tokens = tuple[Token, ...]


class Phrase(NamedTuple):
    """The same phrase in both languages."""

    english: Tokens
    italian: Tokens


class Sentence(NamedTuple):
    """A whole sentence before it is spelled: both sides and the final punctuation mark."""

    english: Tokens
    italian: Tokens
    mark: str = "."


NOTHING = Phrase((), ())


class Derivation:
    """The state of one derivation.

    ``combinations`` collects the pairs of lexemes that the sentence combines; they decide to which
    split it belongs.
    """

    def __init__(self, random: Random) -> None:
        self.combinations: list[str] = []
        self._uniform = random.random
        self._next_bit = 1
        self._drawn: list[object] = []

    def link(self) -> int:
        """Return a fresh bit for tokens that translate each other."""
        bit = self._next_bit
        self._next_bit <<= 1
        return bit

    def pair(self, english: str, italian: str) -> Phrase:
        """Return two pieces of text that translate each other as wholes."""
        bit = self.link()
        return Phrase(((english, bit),), ((italian, bit),))

    def choose(self, options: Sequence[Item]) -> Item:
        """Draw uniformly."""
        return options[int(self._uniform() * len(options))]

    def choose_new(self, options: Sequence[Item]) -> Item:
        """Draw uniformly among what this method has not drawn in this derivation.

        One such option must be left.
        """
        drawn = self.choose(options)
        while drawn in self._drawn:
            drawn = self.choose(options)
        self._drawn.append(drawn)
        return drawn

    def chance(self, probability: float) -> bool:
        """Return True with some probability."""
        return self._uniform() < probability

    def combine(self, kind: str, first: str, second: str) -> None:
        """Record that the sentence combines two lexemes."""
        self.combinations.append(_combination(kind, first, second))


@cache
def _combination(kind: str, first: str, second: str) -> str:
    return f"{kind}: {first} + {second}"
