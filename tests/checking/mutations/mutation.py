"""A mistake, as text of a learner's program that is exchanged for other text."""

from dataclasses import dataclass
from pathlib import Path

LEARNERS = Path(__file__).parents[1] / "learners"

Exchange = tuple[str, str]
"""Text of the program, and the text in its place."""


@dataclass(frozen=True)
class Mutation:
    """A mistake in a learner's program."""

    check: str
    """Which has to notice."""

    part: str
    learner: str
    exchanges: tuple[Exchange, ...]

    def source(self) -> str:
        """Make the mistake."""
        return source_of(self.learner, *self.exchanges)

    def __str__(self) -> str:
        return f"{self.check}, {self.exchanges[-1][1].strip()[:40]}"


def exchanged(source: str, *exchanges: Exchange) -> str:
    """Exchange text, which has to be there."""
    for old, new in exchanges:
        assert old in source, old
        source = source.replace(old, new)
    return source


def source_of(learner: str, *exchanges: Exchange) -> str:
    """Read a learner's program, and exchange some of its text."""
    return exchanged((LEARNERS / f"{learner}.py").read_text(encoding="utf-8"), *exchanges)


def each(check: str, part: str, learner: str, *exchanges: Exchange) -> list[Mutation]:
    """Make a mistake of each exchange."""
    return [Mutation(check, part, learner, (exchange,)) for exchange in exchanges]


def together(check: str, part: str, learner: str, *exchanges: Exchange) -> Mutation:
    """Make one mistake of several exchanges."""
    return Mutation(check, part, learner, exchanges)
