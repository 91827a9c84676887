"""Whether a text is what should be translated: in another language, or not for the glossary."""

import re

from dragoman.corpora.expected_language import ExpectedLanguage
from dragoman.languages.codes import language_name
from dragoman.terms.glossary import Glossary
from dragoman.terms.glossary_use import GlossaryUse

FEWEST_CHARACTERS, MOST_CHARACTERS = 2000, 30_000
"""The language of fewer is not guessed, as lists of terms are taken for another one, and that of
more is that of these."""

_TAG = re.compile("<[^<>]*>")
"""Words of HTML are English ones."""


class Doubts:
    """Notices that a text is in another language than the model's, and a glossary of no use.

    Args:
        language: The code of the language that the model translates from.
        glossary: The glossary, if there is one.
    """

    def __init__(self, language: str, glossary: Glossary | None) -> None:
        self._language = language
        self._expected, self._num_characters = ExpectedLanguage(language), 0
        self._use = GlossaryUse(glossary)

    def look_at(self, text: str) -> bool:
        """Look at a line or sentence, and tell whether further ones are of interest."""
        is_glossary_doubted = self._use.look_at(text)
        if self._num_characters >= MOST_CHARACTERS:
            return is_glossary_doubted
        words = _TAG.sub(" ", text)
        self._num_characters += len(words)
        self._expected.add(words)
        return True

    def warnings(self) -> list[str]:
        """Say what seems to be wrong, if anything does."""
        enough = self._num_characters >= FEWEST_CHARACTERS
        other = self._expected.other() if enough else None
        if other is None or not other.is_of_most:
            return self._use.warnings()
        seems = f"{language_name(other.language)} ({other.language})"
        own = f"{language_name(self._language)} ({self._language})"
        return [
            f"the text seems to be {seems}, and the model translates from {own}",
            *self._use.warnings(),
        ]
