"""A translation spread over cues and lines: cut between words, and preferably after a comma."""

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from dragoman.languages.scripts import SENTENCE_ENDS, WITHOUT_SPACES, is_mark, weighted_length

LINE_WIDTH = 42
"""Letters that fit into a line of subtitles, by the common rule; a third as many characters of
Chinese, Japanese and Korean."""

TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")

_TAG_OR_SPACE = re.compile(rf"{TAG.pattern}|(?P<space>\s+)|(?<=[^\s>])(?=[^\s<{{])")
"""A tag, white space, or nothing, between two characters of words."""

_PAUSES = SENTENCE_ENDS + ",;:，、；：،؛"

_NEVER_LAST = "เแโใไເແໂໃໄ\u1039\u17d2"
_NEVER_FIRST = "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮะาำະາຳ"
"""Letters that are written with the one after them or before them."""


def break_lines(text: str) -> list[str]:
    """Cut a text into lines that fit, unless a word alone is longer than a line."""
    num_words = 1 + sum(1 for _ in _places_to_cut(text))
    return spread(text, [1] * max(1, min(num_words, math.ceil(_width(text) / LINE_WIDTH))))


def spread(text: str, lengths: Sequence[int]) -> list[str]:
    """Cut a text into parts that are about as long, one to another, as these.

    It is cut between words, or between characters where words are not told apart. What has fewer
    words than there are parts is not cut, and is every part.

    >>> spread("Quando sono tornato a casa, dormivi.", [10, 5])
    ['Quando sono tornato a casa,', 'dormivi.']
    """
    cuts = list(_places_to_cut(text))
    num_parts = len(lengths)
    if len(cuts) < num_parts - 1:
        return [text] * num_parts
    width = _width(text)
    bonus = width / num_parts / 3
    chosen = [0]
    first = 0
    for left, length in zip(range(num_parts - 1, 0, -1), accumulate(lengths), strict=False):
        best = _best_cut(cuts[first : len(cuts) - left + 1], width * length / sum(lengths), bonus)
        first += best + 1
        chosen.append(cuts[first - 1].place)
    return [text[a:b].strip() for a, b in pairwise([*chosen, len(text)])]


class _Cut(NamedTuple):
    """Where a text may be cut."""

    place: int
    width: int
    """What is shown before it."""

    after_pause: bool


def _places_to_cut(text: str) -> Iterator[_Cut]:
    width = end = 0
    shown = ""  # the last character before a place, whatever tags are between
    for found in _TAG_OR_SPACE.finditer(text):
        width += weighted_length(text[end : found.start()])
        shown = text[end : found.start()][-1:] or shown
        end = found.end()
        if found["space"]:
            width += len(found["space"])
        elif found[0] or not _may_be_cut(text[end - 1], text[end]):
            continue
        if shown:
            yield _Cut(end, width, shown in _PAUSES)


def _may_be_cut(before: str, after: str) -> bool:
    """Tell whether a line may end between two characters that no space is between."""
    if not (WITHOUT_SPACES.match(before) or WITHOUT_SPACES.match(after)):
        return False
    opens = before in _NEVER_LAST or unicodedata.category(before) in ("Ps", "Pi")
    joins = after in _NEVER_FIRST or unicodedata.category(after) in ("Pe", "Pf", "Po", "Lm")
    return not (opens or joins or is_mark(after))


def _best_cut(cuts: Sequence[_Cut], wanted: float, bonus: float) -> int:
    """Find the cut nearest to a width; one after a pause may be farther away by the bonus."""
    after = bisect_left(cuts, wanted, key=attrgetter("width"))
    near = range(max(0, after - 1), min(after + 1, len(cuts)))
    reach = min(abs(cuts[i].width - wanted) for i in near) + bonus
    start = bisect_left(cuts, wanted - reach, key=attrgetter("width"))
    end = bisect_right(cuts, wanted + reach, key=attrgetter("width"))
    return min(
        range(start, end), key=lambda i: abs(cuts[i].width - wanted) - bonus * cuts[i].after_pause
    )


def _width(text: str) -> int:
    return weighted_length(TAG.sub("", text))
