"""What a text was translated into."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dragoman.confidence import confidence
from dragoman.counting import counted
from dragoman.terms.term import FAULT_OF_PROTECTED


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One translation of a text."""

    text: str

    parts: tuple[str, ...]
    """The translation of each part of the text on its own."""

    score: float
    """Log-probability divided by the length penalty; it ranks the alternatives."""

    log_probability: float
    """Natural logarithm of its probability under the model."""

    num_tokens: int
    """How many tokens the probability covers, the ends of sentences included."""

    finished: bool
    """Whether it ended by itself; otherwise it was stopped at the length limit."""

    faults: tuple[str, ...]
    """Its obvious faults in words, those of `dragoman.faults`; in a document that is being put
    together, with the place of each."""

    @property
    def confidence(self) -> float:
        """How sure the model is, from 0 to 1: the geometric mean of the tokens' probabilities."""
        return confidence(self.log_probability, self.num_tokens)


def unasked(text: str) -> Alternative:
    """Return a text that stands for its translation, without a model having been asked."""
    return Alternative(
        text=text,
        parts=(text.strip(),),
        score=0.0,
        log_probability=0.0,
        num_tokens=0,
        finished=True,
        faults=(),
    )


def join(
    found: Sequence[Alternative], text: str, *, parts: tuple[str, ...] | None = None
) -> Alternative:
    """Join the translations of the parts of a text into one, and add up their scores.

    Args:
        found: One translation of each part.
        text: The whole translation.
        parts: The translations of the parts, if they are not those that were found.
    """
    if parts is None:
        parts = tuple(part for one in found for part in one.parts)
    return Alternative(
        text=text,
        parts=parts,
        score=sum(one.score for one in found),
        log_probability=sum(one.log_probability for one in found),
        num_tokens=sum(one.num_tokens for one in found),
        finished=all(one.finished for one in found),
        faults=tuple(dict.fromkeys(fault for one in found for fault in one.faults)),
    )


def join_alternatives(
    found: Sequence[Sequence[Alternative]],
    put_together: Callable[[Sequence[Alternative]], Alternative],
    *,
    drawn: bool = False,
) -> tuple[Alternative, ...]:
    """Join the translations of the parts of a text: the first ones, the second ones, and so on.

    There are as many as the part with the most has, but each text only once; a part with fewer
    gives its best one again. The join of the best of each part comes first.

    Args:
        found: The alternatives of each part.
        put_together: Joins one translation of each part.
        drawn: Whether they were drawn at random: then all are kept, in their order.
    """
    count = max(map(len, found), default=1)
    best, *others = joined = tuple(
        put_together([of_part[k] if k < len(of_part) else of_part[0] for of_part in found])
        for k in range(count)
    )
    if drawn:
        return joined
    return tuple(different_texts([best, *sorted(others, key=badness)]))


def different_texts(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """Keep the first alternative of each text, which several token sequences may spell."""
    first: dict[str, Alternative] = {}
    for alternative in alternatives:
        first.setdefault(alternative.text, alternative)
    return list(first.values())


def badness(alternative: Alternative) -> tuple[bool, int, bool, float]:
    """Rank alternatives: a lost placeholder is worse than any other fault."""
    faults = alternative.faults
    lost = FAULT_OF_PROTECTED in faults
    return lost, len(faults), not alternative.finished, -alternative.score


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What a text was translated into."""

    source: str
    alternatives: tuple[Alternative, ...]
    """As many as `n_best`, or fewer if a search did not find that many different texts. Those
    without a fault come first, and of these the best scored. Where tokens are drawn, they are that
    many independent samples, some of which may be equal."""

    parts: tuple[str, ...]
    """The units of translation: the sentences of the source, or pieces of a long one. A text with
    tags is one part."""

    cut: bool
    """Whether a sentence was too long for the model, so that it was translated in pieces."""

    @property
    def text(self) -> str:
        """The best translation."""
        return self.alternatives[0].text

    @property
    def score(self) -> float:
        """The score of the best translation."""
        return self.alternatives[0].score

    @property
    def confidence(self) -> float:
        """How sure the model is of the best translation, from 0 to 1."""
        return self.alternatives[0].confidence

    @property
    def finished(self) -> bool:
        """Whether the best translation ended by itself."""
        return self.alternatives[0].finished

    @property
    def faults(self) -> tuple[str, ...]:
        """The obvious faults of the best translation."""
        return self.alternatives[0].faults


def remark_on_cut(translations: Sequence[Translation]) -> str | None:
    """Say how many texts were not translated as a whole; None if all were."""
    count = sum(translation.cut for translation in translations)
    if not count:
        return None
    return (
        f"{count} of {counted(len(translations), 'text')} had a sentence of more tokens than the "
        "model has seen, and its pieces were translated separately"
    )
