"""What an engine is: the part of a translator between the tokenizers."""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.errors import DragomanError

EngineKind = Literal["auto", "pytorch", "ctranslate2"]


class EngineError(DragomanError):
    """An engine cannot be used, or not for what is asked."""


@runtime_checkable
class Engine(Protocol):
    """Runs a model on token ids.

    How far a sentence's result may depend on the others it is given with, `Translator` says.
    """

    @property
    def name(self) -> str:
        """What computes, for reports."""

    @property
    def knows_phrases(self) -> bool:
        """Whether it can be required to produce phrases."""

    @property
    def samples(self) -> bool:
        """Whether it can draw tokens."""

    @property
    def searches_at_once(self) -> int:
        """How many threads may each search at once with a gain; others would wait."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Each gets `config.n_best` hypotheses, or fewer if there are not so many, and at least one.
        A sentence without tokens gets one empty hypothesis. If phrases are required of each
        sentence, every hypothesis has them; a sentence whose phrases cannot be said gets none. If
        a prefix is given for each sentence, all but an empty hypothesis begin with it.

        Raises:
            EngineError: the engine cannot search so.
        """

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        """Translate a sentence in up to `count` ways that part right after a prefix.

        Each continues one of the tokens that are most probable there, in this order, with what a
        search finds best, which does not sample. To end there is not among the ways.
        """

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        """Judge translations that are given: one value for each token, and one for the end."""
