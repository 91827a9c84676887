"""Engines that tests put in the place of a model."""

from collections.abc import Sequence

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase


class FakeEngine:
    """What an engine has; a test overrides what it asks for."""

    name = "fake"
    knows_phrases = False
    samples = True
    searches_at_once = 1
    texts_at_once = 256

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        raise NotImplementedError

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        raise NotImplementedError

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        raise NotImplementedError
