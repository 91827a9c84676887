"""Whether a text is in the language that it should be in."""

from collections import Counter

from dragoman.corpora.detection import LISTED_LANGUAGES, Detector
from dragoman.languages import base_language, language_name, same_language

PART = 1000
"""Characters that are judged together: some sentences, which few foreign ones outweigh."""

MOST_PARTS = 10
FEWEST_LETTERS = 50
"""With fewer nothing is said: a handful of words is often guessed wrong."""


class ExpectedLanguage:
    """Looks at the beginning of one side of a corpus as it passes.

    Args:
        language: The code of the language that it should be in.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._parts = [""]

    def add(self, text: str) -> None:
        """Look at a sentence."""
        if len(self._parts[-1]) >= PART:
            if len(self._parts) == MOST_PARTS:
                return
            self._parts.append("")
        self._parts[-1] += f" {text}"

    def other(self) -> str | None:
        """Name the language in which most of it seems to be, if it is another one.

        Nothing is said of a language whose frequent words are not known.
        """
        if base_language(self.language) not in LISTED_LANGUAGES:
            return None
        parts = [part for part in self._parts if sum(map(str.isalpha, part)) >= FEWEST_LETTERS]
        among = [self.language]
        among += [code for code in LISTED_LANGUAGES if not same_language(code, self.language)]
        detector = Detector(among)
        votes = Counter(detector.detect(part, among=among).language for part in parts)
        language, count = max(votes.items(), key=lambda vote: vote[1], default=(self.language, 0))
        return None if language == self.language or 2 * count <= len(parts) else language


def language_warnings(
    expected: tuple[str, str], seeming: tuple[str | None, str | None]
) -> list[str]:
    """Say which side of a corpus seems to be in another language.

    Args:
        expected: The codes of the languages of source and target.
        seeming: What `ExpectedLanguage.other` has found of each.
    """
    return [
        f"the {side} should be {language_name(code)} ({code}) and seems to be "
        f"{language_name(other)} ({other})"
        for side, code, other in zip(("source", "target"), expected, seeming, strict=True)
        if other is not None
    ]
