"""What an engine is: the part of a translator between the tokenizers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dragoman.config import DragomanError
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase


class EngineError(DragomanError):
    """An engine cannot be used, or not for what is asked."""


@runtime_checkable
class Engine(Protocol):
    """Runs a model on token ids. A sentence's result does not depend on the other sentences."""

    @property
    def name(self) -> str:
        """What computes, for reports."""

    @property
    def knows_phrases(self) -> bool:
        """Whether it can be required to produce phrases."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Each gets `config.n_best` hypotheses, or fewer if there are not so many, and at least one.
        A sentence without tokens gets one empty hypothesis. If phrases are required of each
        sentence, every hypothesis has them; a sentence whose phrases cannot be said gets none.

        Raises:
            EngineError: the engine cannot search so.
        """
