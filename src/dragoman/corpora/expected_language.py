"""Whether a text is in the language that it should be in."""

import random
from collections import Counter
from dataclasses import dataclass

from dragoman.languages.codes import base_language, language_name, same_language
from dragoman.languages.detection import LISTED_LANGUAGES, Detector

PART = 1000
"""Characters that are judged together: some sentences, which few foreign ones outweigh."""

MOST_PARTS = 30
FEWEST_LETTERS = 50
"""With fewer nothing is said: a handful of words is often guessed wrong."""

FEWEST_PARTS, LEAST_SHARE = 3, 0.1
"""Of the parts, those in another language, before a text is said to be partly in it."""


@dataclass(frozen=True)
class OtherLanguage:
    """A language in which a text seems to be, and should not be."""

    language: str
    share: float
    """Of the parts that were looked at, from 0 to 1."""

    @property
    def is_of_most(self) -> bool:
        """Whether most of the text is in it."""
        return self.share > 1 / 2


class ExpectedLanguage:
    """Looks at parts of one side of a corpus, drawn from all of it as it passes.

    Args:
        language: The code of the language that it should be in.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._draw = random.Random(1)
        self._parts: list[str] = []
        self._passing = ""
        self._num_passed = 0

    def add(self, text: str) -> None:
        """Look at a sentence."""
        self._passing += f" {text[:PART]}"
        if len(self._passing) < PART:
            return
        self._num_passed += 1
        if len(self._parts) < MOST_PARTS:
            self._parts.append(self._passing)
        elif (place := self._draw.randrange(self._num_passed)) < MOST_PARTS:
            self._parts[place] = self._passing
        self._passing = ""

    def other(self) -> OtherLanguage | None:
        """Name another language in which some of it seems to be, the most frequent one.

        Nothing is said of a language whose frequent words are not known.
        """
        if base_language(self.language) not in LISTED_LANGUAGES:
            return None
        parts = [
            part
            for part in (*self._parts, self._passing)
            if sum(map(str.isalpha, part)) >= FEWEST_LETTERS
        ]
        among = [self.language]
        among += [code for code in LISTED_LANGUAGES if not same_language(code, self.language)]
        detector = Detector(among)
        votes = Counter(detector.detect(part, among=among).language for part in parts)
        del votes[self.language]
        if not votes:
            return None
        language, count = max(votes.items(), key=lambda vote: vote[1])
        found = OtherLanguage(language, count / len(parts))
        is_of_some = count >= FEWEST_PARTS and found.share >= LEAST_SHARE
        return found if found.is_of_most or is_of_some else None


def language_warnings(
    expected: tuple[str, str], seeming: tuple[OtherLanguage | None, OtherLanguage | None]
) -> list[str]:
    """Say which side of a corpus seems to be in another language.

    Args:
        expected: The codes of the languages of source and target.
        seeming: What `ExpectedLanguage.other` has found of each.
    """
    found = []
    for side, code, other in zip(("source", "target"), expected, seeming, strict=True):
        if other is None:
            continue
        seems = f"{language_name(other.language)} ({other.language})"
        should = f"the {side} should be {language_name(code)} ({code}) and "
        if other.is_of_most:
            found.append(f"{should}seems to be {seems}")
        else:
            found.append(f"{should}some {100 * other.share:.0f} % of it seem to be {seems}")
    return found
