"""In which of a few languages a text is written."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dragoman.languages.codes import base_language
from dragoman.languages.scripts import letters_outside, share_in_script, share_no_script

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LONGEST_GRAM = 4
_MOST_CHARACTERS = 2000
_UNSEEN = 0.1  # count of an n-gram that does not occur in a list of a hundred words
_FOREIGN_LETTER = -12.0  # log-probability of one in a script that the language is not written in
_NEW_LETTER = -9.0  # log-weight of a letter that is in no word of a list
_UNKNOWN_WORD = 0.4  # and of any n-gram in a language without a list
# Text in the language of a list has mostly 0.4 to 1.5 an n-gram, in others of its script less.


@dataclass(frozen=True, kw_only=True)
class Detection:
    """The language that a text is probably written in."""

    language: str
    confidence: float
    """A probability among the languages that were possible, from 0 to 1."""


class Detector:
    """Tells a few languages apart, by their scripts and by the letters of frequent words.

    For each language there is a list of a hundred frequent words. Each n-gram of one to four
    letters, and each whole word, is evidence for a language by how often it occurs in its list; the
    evidence is added up as in naive Bayes. It is meant for sentences: single words are often
    guessed wrong. A language without a list is recognised by its script, and by how little its
    words are like those in the lists of the others.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        self._outside = {language: letters_outside(language) for language in languages}
        self._profiles = {
            language: _profile(base)
            for language in languages
            if (base := base_language(language)) in _LISTS
        }

    def tells_apart(self, one: str, other: str) -> bool:
        """Tell whether two languages both have lists, or are written in different scripts."""
        have_lists = one in self._profiles and other in self._profiles
        return have_lists or share_no_script(one, other)

    def detect(self, text: str, *, among: Sequence[str]) -> Detection:
        """Choose the most probable language; the first one if there is no evidence for any.

        Args:
            text: Any text; its first two thousand characters count.
            among: Some of the languages that the detector was made for.
        """
        return self.rank(text, among=among)[0]

    def rank(self, text: str, *, among: Sequence[str]) -> list[Detection]:
        """Order languages by their probability, the most probable first."""
        text = text[:_MOST_CHARACTERS].lower()
        grams = Counter(gram for word in _WORD.findall(text) for gram in _grams(word))
        scores = {language: self._score(text, grams, language) for language in among}
        highest = max(scores.values())
        weights = {language: math.exp(score - highest) for language, score in scores.items()}
        total = sum(weights.values())
        order = sorted(weights, key=lambda language: -weights[language])  # stable
        return [Detection(language=code, confidence=weights[code] / total) for code in order]

    def _score(self, text: str, grams: Mapping[str, int], language: str) -> float:
        """Add up the evidence for a language; longer n-grams repeat what shorter ones have said."""
        profile = self._profiles.get(language)
        if profile is None:
            score = _UNKNOWN_WORD * sum(grams.values())
        else:
            unseen = math.log(_UNSEEN)
            score = sum(
                n * profile.get(gram, _NEW_LETTER if len(gram) == 1 else unseen)
                for gram, n in grams.items()
            )
        outside = self._outside[language]
        num_letters = sum(map(str.isalpha, text))
        foreign = 0.0 if outside is None else (1 - share_in_script(text, outside)) * num_letters
        return score / (_LONGEST_GRAM + 1) + foreign * _FOREIGN_LETTER


def _grams(word: str) -> list[str]:
    """List the n-grams of one to four letters of a word, edges included, and the whole word."""
    edged = f" {word} "
    return [f"={word}="] + [
        edged[i : i + n] for n in range(1, _LONGEST_GRAM + 1) for i in range(len(edged) - n + 1)
    ]


@cache
def _profile(language: str) -> dict[str, float]:
    """Log-weights of the n-grams of the words that are frequent in a language."""
    words = _LISTS[language]
    counts = Counter(gram for word in words for gram in _grams(word))
    scale = len(words) / 100
    return {gram: math.log(_UNSEEN + count / scale) for gram, count in counts.items()}


def _frequent_words() -> dict[str, list[str]]:
    """Read the lists of words, by language."""
    table = files("dragoman.languages").joinpath("frequent_words.tsv").read_text(encoding="utf-8")
    entries = (line.split("\t") for line in table.split("\n") if line)
    return {code: words.split() for code, words in entries}


_LISTS = _frequent_words()
LISTED_LANGUAGES = tuple(_LISTS)
"""Codes of the languages that have lists."""
