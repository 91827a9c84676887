"""Where in a translation some words of the source are, judged by their translation on its own.

On its own, a word is often translated otherwise than within its sentence: with another ending, with
an article, or as a sentence. What is alike in both is enough to find it: of 572 stretches of one to
three words that were not found to the letter, 499 were found like this, and 418 of them exactly
(`docs/experiments.md`, 2026-11-27). Words count by the root of their length, as articles and the
like are alike by chance.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, takewhile
from typing import NamedTuple

from dragoman.languages.scripts import UNSPACED_CHARACTER, word_pattern

_FEWEST_LETTERS = 3
_LEAST_OF_WORD = 0.6
"""How much of the longer of two words their common beginning has to be."""

_LEAST_ALIKE = 0.7
_MOST_WORDS = 20
"""Of a stretch; longer ones are seldom split otherwise, and the time grows with the square."""


class _Stretch(NamedTuple):
    start: int
    end: int
    alike: float
    """Twice what is alike, divided by the sum of both texts."""


def find_alike(whole: str, text: str, *, source: str, middle: float) -> list[tuple[int, int]]:
    """Find the stretch of a translation that a text resembles most.

    Args:
        whole: The translation.
        text: Words of its source, translated on their own.
        source: These words. If their translation is longer, it says more than they do.
        middle: Where they are in the source, from 0 to 1; of stretches that are as good, the
            nearest to that is taken.

    Returns:
        From where to where; nothing if none resembles it enough, or there are no words, as in a
        script without spaces.
    """
    words = [found[0].casefold() for found in _word().finditer(text)]
    if not 0 < len(words) <= _MOST_WORDS or UNSPACED_CHARACTER.search(whole):
        return []
    expected = sum(map(_weight, words))
    if not UNSPACED_CHARACTER.search(source):
        expected = min(expected, sum(_weight(found[0]) for found in _word().finditer(source)))
    best = max(
        _stretches(whole, words, expected),
        key=lambda each: (
            each.alike,
            -abs((each.start + each.end) / (2 * len(whole)) - middle),
        ),
        default=None,
    )
    return [] if best is None or best.alike < _LEAST_ALIKE else [(best.start, best.end)]


def _stretches(whole: str, words: Sequence[str], expected: float) -> Iterator[_Stretch]:
    """Yield the stretches of a text that begin and end with one of some words."""
    found = list(_word().finditer(whole))
    texts = [each[0].casefold() for each in found]
    sums = list(accumulate(map(_weight, texts), initial=0.0))
    are_alike = [any(_is_alike(word, text) for word in words) for text in texts]
    for first in range(len(found)):
        if not are_alike[first]:
            continue
        left, alike = list(words), 0.0
        for last in range(first, min(len(found), first + 2 * len(words))):
            match = next((word for word in left if _is_alike(word, texts[last])), None)
            if match is None:
                continue
            left.remove(match)
            alike += _weight(texts[last])
            both = sums[last + 1] - sums[first] + max(expected, alike)
            yield _Stretch(found[first].start(), found[last].end(), round(2 * alike / both, 6))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"{word_pattern()}['’]?")


def _weight(word: str) -> float:
    return math.sqrt(len(word))


def _is_alike(first: str, second: str) -> bool:
    """Tell whether two words are one, perhaps with different endings."""
    if first == second:
        return True
    pairs = zip(first, second, strict=False)
    num_common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    longer = max(len(first), len(second))
    return num_common >= max(_FEWEST_LETTERS, _LEAST_OF_WORD * longer)
