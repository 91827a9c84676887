"""What an engine is: the part of a translator between the tokenizers."""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.errors import DragomanError

EngineKind = Literal["auto", "pytorch", "ctranslate2"]

TEXTS_AT_ONCE = 2048
"""Among so many texts, enough have a similar length to fill the batches of a CPU..."""

TEXTS_AT_ONCE_ON_GPU = 2**14
"""...and among these, the larger ones of a GPU (`benchmarks/translation_speed.md`)."""


class EngineError(DragomanError):
    """An engine cannot be used, or cannot do what is asked."""


@runtime_checkable
class Engine(Protocol):
    """Runs a model on token ids.

    `Translator` says how far a sentence's result may depend on the others it is given with.
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
        """How many threads can usefully search at once; any more would wait."""

    @property
    def texts_at_once(self) -> int:
        """How many texts are worth reading ahead."""

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Each gets `config.n_best` hypotheses, or fewer if there are not that many, but at least one.
        A sentence without tokens gets one empty hypothesis, whatever else is asked. If phrases are
        required of each sentence, every other hypothesis has them; a sentence whose phrases cannot
        be produced gets none. If a prefix is given for each sentence, every other hypothesis begins
        with it.

        Raises:
            EngineError: the engine cannot run such a search.
        """

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        """Translate a sentence in up to `count` ways that diverge right after a prefix.

        Each continues one of the most probable tokens there, in this order, with the best that a
        search without sampling finds. Ending there is not one of the ways.
        """

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        """Score given translations: one value for each token, and one for the end."""
