"""Captions that roll: each line is shown below the one before it, and then above the next one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dragoman.documents.document import Edit, edit

_MOST_LINES = 8
"""That one caption shows again; television has four at once."""


@dataclass
class RollingLine:
    """A line, which several cues show."""

    text: str
    begin: int  # milliseconds
    end: int  # of the first cue that shows it
    places: list[tuple[int, int]] = field(default_factory=list)
    """Where it stands in the file."""


def read_rolling_lines(
    text: str,
    cues: Sequence[tuple[int, int, tuple[int, int]]],
    read: Callable[[str], str],
) -> list[RollingLine]:
    """Read captions each of which mostly begins with the last line of the one before it.

    Where none has a line below that, as in a refrain, nothing rolls.

    Args:
        text: The file.
        cues: The beginning and the end of each caption, in milliseconds, and its place.
        read: Takes what is no word out of a line.

    Returns:
        Each line once; none if the captions do not roll.
    """
    found: list[RollingLine] = []
    shown: list[RollingLine] = []
    num_repeated = num_rolled = 0
    for begin, end, place in cues:
        lines = list(_lines(text, place, read))
        num_same = _overlap([line.text for line in shown], [said for said, _ in lines])
        num_repeated += num_same > 0
        num_rolled += 0 < num_same < len(lines)
        new = [RollingLine(said, begin, end) for said, _ in lines[num_same:]]
        shown = [*shown[len(shown) - num_same :], *new]
        found += new
        for line, (_, at) in zip(shown, lines, strict=True):
            line.places.append(at)
    return found if num_rolled and 2 * num_repeated >= len(cues) else []


def write_rolling_lines(translation: str, text: str, lines: Sequence[RollingLine]) -> str:
    """Write the translations of lines, each wherever its line was.

    One that is empty becomes a space, as a line without one would end its caption.
    """
    edits = [
        Edit(*place, said or " ")
        for line, said in zip(lines, translation.split("\n"), strict=True)
        for place in line.places
    ]
    return edit(text, sorted(edits, key=lambda each: each.start)).put_together([]).text


def _lines(
    text: str, place: tuple[int, int], read: Callable[[str], str]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each line that has words, and its place."""
    for found in re.compile(r"[^\r\n]+").finditer(text, *place):
        if said := read(found[0]).strip():
            yield said, found.span()


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the lines with which one caption ends and the next begins."""
    longest = min(len(before), len(after), _MOST_LINES)
    return next((n for n in range(longest, 0, -1) if before[-n:] == after[:n]), 0)
