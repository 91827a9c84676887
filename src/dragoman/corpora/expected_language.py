"""Whether a text is in the language that it should be in, and its pairs the right way round."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dragoman.corpora.reservoir import Reservoir
from dragoman.languages.codes import base_language, language_name, same_language
from dragoman.languages.detection import LISTED_LANGUAGES, Detector

if TYPE_CHECKING:
    from dragoman.corpora.parallel_text import Pair

PART = 1000
"""Characters that are judged together: several sentences, so that a few foreign ones do not tip the
balance."""

MOST_PARTS = 30
FEWEST_LETTERS = 50
"""With fewer, nothing is reported: a handful of words is often guessed wrong."""

FEWEST_PARTS, LEAST_SHARE = 3, 0.1
"""How many parts, and what share of them, must be in another language before a text is said to be
partly in it."""

MOST_PAIRS = 500
FEWEST_CHARACTERS, MOST_CHARACTERS = 25, 200
"""Of a sentence that is judged by itself: fewer say little, and more would not help."""

LEAST_CONFIDENCE = 0.9
"""Both sentences of a pair must reach it for the pair to count. Without it, 6 % of the pairs in
Danish and Norwegian, which are most alike, seem to be the wrong way round; with it, 1 or 2 %."""

FEWEST_SWAPPED, LEAST_SWAPPED, MOST_SWAPPED = 3, 0.05, 0.9
"""Number and share of swapped pairs below which nothing is said, and the share above which the
whole corpus is swapped, which another warning says."""


@dataclass(frozen=True)
class OtherLanguage:
    """A language that a text seems to be in, but should not be in."""

    language: str
    share: float
    """The share of the examined parts that are in it, from 0 to 1."""

    @property
    def is_of_most(self) -> bool:
        """Whether most of the text is in it."""
        return self.share > 1 / 2


class ExpectedLanguage:
    """Examines parts of one side of a corpus, sampled from all of it as it passes.

    Args:
        language: The code of the language that it should be in.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._parts = Reservoir[str](MOST_PARTS)
        self._passing = ""

    def add(self, text: str) -> None:
        """Add a sentence."""
        self._passing += f" {text[:PART]}"
        if len(self._passing) < PART:
            return
        self._parts.add(self._passing)
        self._passing = ""

    def other(self) -> OtherLanguage | None:
        """Return the most frequent other language that some of it seems to be in, if any.

        It is also None if the frequent words of the expected language are not known.
        """
        if base_language(self.language) not in LISTED_LANGUAGES:
            return None
        parts = [
            part
            for part in (*self._parts.items, self._passing)
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


class SwappedPairs:
    """Looks for pairs that are the wrong way round, as when two translation memories were merged.

    Where two languages alternate on a side, its parts are guessed to be in either. So a pair is
    judged by both of its sentences, and only between its two languages: if each is taken for the
    other's, that is hardly ever wrong.

    Args:
        languages: The codes of the source and of the target.
    """

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._are_known = all(base_language(code) in LISTED_LANGUAGES for code in languages)
        self._pairs = Reservoir[tuple[str, str]](MOST_PAIRS)

    def add(self, pair: "Pair") -> None:
        """Add a pair; what is judged is a sample of those that are long enough."""
        if _is_long(pair):
            self._pairs.add((pair.source, pair.target))

    def share(self) -> float:
        """Estimate what share of the pairs is the wrong way round, from 0 to 1.

        It is 0 if too few are found, or if the frequent words of a language are not known.
        """
        if not self._are_known:
            return 0.0
        counts = Counter(self._judge(*pair) for pair in self._pairs.items)
        swapped = counts[self._languages[::-1]]
        if swapped < FEWEST_SWAPPED:
            return 0.0
        return swapped / (swapped + counts[self._languages])

    def has_swapped(self, pair: "Pair") -> bool:
        """Tell whether a pair seems to be the wrong way round, which takes half a millisecond."""
        swapped = self._languages[::-1]
        return self._are_known and _is_long(pair) and self._judge(*pair[:2]) == swapped

    def _judge(self, source: str, target: str) -> tuple[str, ...] | None:
        """Guess the languages of a pair, if both are clear."""
        found = [
            self._detector.detect(text[:MOST_CHARACTERS], among=self._languages)
            for text in (source, target)
        ]
        if min(side.confidence for side in found) < LEAST_CONFIDENCE:
            return None
        return tuple(side.language for side in found)

    @cached_property
    def _detector(self) -> Detector:
        return Detector(self._languages)


def _is_long(pair: "Pair") -> bool:
    return min(len(pair.source), len(pair.target)) >= FEWEST_CHARACTERS


def language_warnings(
    expected: tuple[str, str],
    seeming: tuple[OtherLanguage | None, OtherLanguage | None],
    swapped: float,
) -> list[str]:
    """Say which side of a corpus seems to be in another language, or that its pairs are mixed.

    Args:
        expected: The codes of the languages of source and target.
        seeming: What `ExpectedLanguage.other` has found of each.
        swapped: The share of the pairs that are the wrong way round.
    """
    found = []
    is_mixed = LEAST_SWAPPED <= swapped <= MOST_SWAPPED
    if is_mixed:
        source, target = (f"{language_name(code)} ({code})" for code in expected)
        found.append(
            f"some {100 * swapped:.0f} % of the pairs seem to be the wrong way round, "
            f"from {target} to {source}; dragoman corpus check -o FILE lists them"
        )
    for side, code, translation, other in zip(
        ("source", "target"), expected, reversed(expected), seeming, strict=True
    ):
        if other is None or (is_mixed and other.language == base_language(translation)):
            continue
        seems = f"{language_name(other.language)} ({other.language})"
        should = f"the {side} should be {language_name(code)} ({code}) and "
        if other.is_of_most:
            found.append(f"{should}seems to be {seems}")
        else:
            found.append(f"{should}some {100 * other.share:.0f} % of it seem to be {seems}")
    return found
