"""What a text was translated to."""

from dataclasses import dataclass

from dragoman.faults import Fault
from dragoman.sentence_translator import Alternative


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What a text was translated to."""

    source: str
    alternatives: tuple[Alternative, ...]
    """As many as `n_best`, or fewer if there are not so many. Those without a fault come first, and
    of these the best scored."""

    parts: tuple[str, ...]
    """What was translated at once: the sentences of the source, or pieces of a long one. A text
    with tags is one part."""

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
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the best translation at first sight."""
        return self.alternatives[0].faults
