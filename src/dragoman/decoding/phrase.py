"""What a translation is required to have, as tokens."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spelling:
    """One way to write a phrase."""

    tokens: tuple[int, ...]
    not_after: frozenset[int] = frozenset()
    """Tokens that may not come before it, because it would continue their last word or number."""


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """Tokens that must stand together in a translation: a placeholder, or a glossary term."""

    spellings: tuple[Spelling, ...]
    """The ways to write it, one of which a translation has."""

    not_before: frozenset[int] = frozenset()
    """Tokens that may not follow it, because they would continue its last word or number."""

    only_behind: frozenset[int] = frozenset()
    """Tokens that may only come after it, because with them a translation is over."""

    def __post_init__(self) -> None:
        if not self.spellings or not all(spelling.tokens for spelling in self.spellings):
            raise ValueError("a phrase needs a spelling, and each spelling a token")

    @property
    def longest(self) -> int:
        """Tokens of the longest spelling."""
        return max(len(spelling.tokens) for spelling in self.spellings)
