"""Whether a glossary is for a text at all: one that is the wrong way round changes nothing."""

from dragoman.terms.glossary import Glossary

FEWEST_TEXTS = 20
"""Fewer lines or sentences may well lack every term of a glossary that is right."""

MOST_TEXTS = 10_000
"""Of a longer text only the beginning is looked at, as a large glossary takes its time."""


class GlossaryUse:
    """Notices that no term of a glossary occurs in a text.

    Args:
        glossary: The glossary, if there is one.
    """

    def __init__(self, glossary: Glossary | None) -> None:
        self._glossary = glossary
        self._reversed = glossary and glossary.reversed()
        self._num_texts = 0
        self._has_term = self._has_translation = False

    def look_at(self, text: str) -> bool:
        """Look for terms in a line or sentence, and tell whether further ones are of interest."""
        if self._glossary is None or self._has_term or self._num_texts == MOST_TEXTS:
            return False
        self._num_texts += bool(text.strip())
        self._has_term = bool(self._glossary.find(text))
        self._has_translation |= self._reversed is not None and bool(self._reversed.find(text))
        return True

    def warnings(self) -> list[str]:
        """Say what seems to be wrong, if anything does."""
        if self._has_term or self._num_texts < FEWEST_TEXTS:
            return []
        where = "the text" if self._num_texts < MOST_TEXTS else f"the first {MOST_TEXTS:,} lines"
        found = f"no term of the glossary occurs in {where}"
        if self._has_translation:
            return [f"{found}, but translations of its terms do; exchange its columns"]
        return [f"{found}; each form that occurs, such as a plural, needs a line of its own"]
