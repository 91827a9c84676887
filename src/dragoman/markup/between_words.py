"""Line breaks and comments, which may go between any two words of a translation."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from dragoman.markup.spans import Span


def place_wraps(
    spans: Sequence[Span], whole: str, taken: Sequence[tuple[int, int]]
) -> list[tuple[int, int, Span]] | None:
    """Find the nearest free space in the translation for each wrap, keeping their order."""
    ends = list(accumulate(len(span.text) for span in spans))
    found_spaces = (found.start() for found in re.finditer(r"(?<=\S) (?=\S)", whole))
    spaces = list(_outside(found_spaces, taken, bisect_right))
    placed: list[tuple[int, int, Span]] = []
    wraps = [(span, end) for span, end in zip(spans, ends, strict=True) if span.wraps]
    for left, (span, end) in zip(range(len(wraps) - 1, -1, -1), wraps, strict=True):
        free = spaces[: len(spaces) - left]  # the last ones are needed for the other wraps
        if not free:
            return None
        wanted = end / ends[-1] * len(whole)
        nearest = min(free, key=lambda space: abs(space - wanted))
        spaces = [space for space in spaces if space > nearest]
        placed.append((nearest, nearest + 1, span))
    return placed


def place_comments(
    spans: Sequence[Span], whole: str, taken: Sequence[tuple[int, int]]
) -> list[tuple[int, int, Span]]:
    """Put comments about as far into the translation as they were in the source, in order."""
    ends = list(accumulate(len(span.text) for span in spans))
    free = [0, *(found.end() for found in re.finditer(r"\s+", whole)), len(whole)]
    free = list(_outside(free, taken, bisect_left))
    source, place, alike = "".join(span.text for span in spans), 0, True
    placed: list[tuple[int, int, Span]] = []
    for span, end in zip(spans, ends, strict=True):
        if span.is_comment:
            alike = alike and source[place:end] == whole[place:end]
            if alike:  # it stays after the same words
                place = end
            else:
                wanted = end / len(source) * len(whole)
                behind = bisect_left(free, wanted)
                around = free[max(0, behind - 1) : behind + 1]
                nearest = min(around, key=lambda at: abs(at - wanted))
                place = max(place, nearest)
            placed.append((place, place, span))
    return placed


def _outside(
    places: Iterable[int],
    taken: Sequence[tuple[int, int]],
    bisect: Callable[[Sequence[int], int], int],
) -> Iterator[int]:
    """Yield the places that are in none of some stretches.

    Args:
        places: Positions in a text.
        taken: From where to where.
        bisect: `bisect_right` if the start of a stretch is in it, `bisect_left` if it is not.
    """
    ordered = sorted(taken)
    starts = [start for start, _ in ordered]
    furthest = list(accumulate((end for _, end in ordered), max))
    for place in places:
        num_begun = bisect(starts, place)
        if num_begun == 0 or furthest[num_begun - 1] <= place:
            yield place
