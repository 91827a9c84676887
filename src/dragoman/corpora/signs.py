"""Signs that parallel text is not what it should be, looked for while it is read."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.entities import EntitySigns
from dragoman.corpora.expected_language import (
    ExpectedLanguage,
    OtherLanguage,
    SwappedPairs,
    language_warnings,
)
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.spreadsheet import SpreadsheetSigns


class Signs:
    """Examines the pairs of one corpus as they pass: marks of spreadsheets and HTML, languages.

    Args:
        corpus: Where they are from.
        languages: The codes of the source and of the target.
    """

    def __init__(self, corpus: CorpusConfig, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._spreadsheet = SpreadsheetSigns(corpus, languages)
        self._source, self._target = map(ExpectedLanguage, languages)
        self._swapped, self._entities = SwappedPairs(languages), EntitySigns()

    def watch(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Look at the pairs that pass."""
        for pair in pairs:
            self._spreadsheet.add(pair)
            self._swapped.add(pair)
            self._source.add(pair.source)
            self._target.add(pair.target)
            for text in pair[:2]:
                self._entities.add(text)
            yield pair

    @cached_property
    def seeming(self) -> tuple[OtherLanguage | None, OtherLanguage | None]:
        """The languages in which source and target seem to be, where they should not be.

        It takes most of a second to find them; so they are found once, when all pairs have passed.
        """
        return self._source.other(), self._target.other()

    def warnings(self) -> list[str]:
        """Say what signs there were, in one sentence each."""
        return [
            *self._spreadsheet.warnings(),
            *self._entities.warnings(),
            *language_warnings(self._languages, self.seeming, self._swapped.share()),
        ]
