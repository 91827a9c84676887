"""One sentence in the making: its random choices, its links and its lexical combinations."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple, Protocol, TypeVar

Item = TypeVar("Item")

Token = tuple[str, int]
"""Words that stand together, and a bit mask: two tokens that share a bit are linked."""
Tokens = tuple[Token, ...]


class Bilingual(Protocol):
    """What has words in both languages."""

    @property
    def english(self) -> Tokens:
        """The English words."""

    @property
    def italian(self) -> Tokens:
        """The Italian words."""


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


def token(text: str, bit: int) -> Tokens:
    """Return a token, or none if the text is empty."""
    return ((text, bit),) if text else ()


def non(bit: int) -> Tokens:
    """Return the Italian *non*, or none if there is no bit for it."""
    return token("non", bit) if bit else ()


def join(*parts: Bilingual) -> Phrase:
    """Put phrases one behind the other, in both languages."""
    return Phrase(
        tuple(word for part in parts for word in part.english),
        tuple(word for part in parts for word in part.italian),
    )


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
