"""What an engine is: the part of a translator between the tokenizers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dragoman.config import DragomanError
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis


class EngineError(DragomanError):
    """An engine cannot be used, or not for what is asked."""


@runtime_checkable
class Engine(Protocol):
    """Runs a model on token ids. A sentence's result does not depend on the other sentences."""

    @property
    def name(self) -> str:
        """What computes, for reports."""

    def search(
        self, sources: Sequence[Sequence[int]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Each gets `config.n_best` hypotheses, or fewer if there are not so many, and at least one.
        A sentence without tokens gets one empty hypothesis.

        Raises:
            EngineError: the engine cannot search so.
        """
