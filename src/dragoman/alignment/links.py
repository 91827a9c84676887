"""Word alignments as sets of links, their file format, and their error rate."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpora.text_file import read_lines
from dragoman.errors import DragomanError

Links = frozenset[tuple[int, int]]
"""Pairs of a source word and a target word, counted from 0; `dragoman.words` cuts the words."""

_LINK = re.compile(r"(\d{1,9})([-?])(\d{1,9})")


class AlignmentError(DragomanError):
    """An alignment cannot be read or made."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Which words of a text and of its translation belong together."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    links: Links
    complete: bool = True
    """Whether no part was left without links because it was too long."""


@dataclass(frozen=True, kw_only=True)
class GoldAlignment:
    """What annotators say about a sentence pair."""

    sure: Links
    possible: Links
    """The sure links, and those that may or may not be there."""


def write_pharaoh(links: Links) -> str:
    """Write links in the format that most tools read.

    >>> write_pharaoh(frozenset({(1, 2), (0, 0)}))
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_gold(path: Path) -> list[GoldAlignment]:
    """Read one line per sentence pair: `0-0 1?2` is a sure link and a possible one.

    Raises:
        CorpusError: the file cannot be read, or is not text.
        AlignmentError: a line contains anything else.
    """
    lines = enumerate(read_lines(path), start=1)
    return [_parse(line, f"{path}:{number}") for number, line in lines]


def check_gold(
    path: Path, gold: Sequence[GoldAlignment], num_words: Sequence[tuple[int, int]]
) -> None:
    """Make sure that alignments can belong to the pairs, of which there are as many.

    Args:
        path: The file of the alignments.
        gold: What it says.
        num_words: How many words the source and the target of each pair have.

    Raises:
        AlignmentError: a link is to a word that does not exist, or there are no links.
    """
    for number, (aligned, words) in enumerate(zip(gold, num_words, strict=True), start=1):
        for link in sorted(aligned.possible):
            if link[0] >= words[0] or link[1] >= words[1]:
                raise AlignmentError(
                    f"{path}:{number}: it links word {link[0]} to word {link[1]}, but the "
                    f"sentences have {words[0]} and {words[1]}; words are counted from 0"
                )
    if not any(aligned.possible for aligned in gold):
        raise AlignmentError(f"{path}: no line has a link, so nothing can be judged by it")


def _parse(line: str, place: str) -> GoldAlignment:
    sure, possible = set(), set()
    for word in line.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise AlignmentError(f"{place}: {word!r} is not a link; write 0-0, or 0?0 if unsure")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldAlignment(sure=frozenset(sure), possible=frozenset(possible))


@dataclass
class ErrorRate:
    """The alignment error rate over a text (Och and Ney 2003, equation 21).

    AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), summed over the sentences, for found links A, sure
    links S and possible links P.

    >>> gold = GoldAlignment(sure=frozenset({(0, 0)}), possible=frozenset({(0, 0), (1, 1)}))
    >>> rate = ErrorRate()
    >>> rate.add(frozenset({(0, 0), (1, 1), (2, 2)}), gold)
    >>> rate.value
    0.25
    """

    right: int = 0
    total: int = 0

    def add(self, found: Links, gold: GoldAlignment) -> None:
        """Count the links of a sentence."""
        self.right += len(found & gold.sure) + len(found & gold.possible)
        self.total += len(found) + len(gold.sure)

    @property
    def value(self) -> float:
        """The rate so far: 0 is right."""
        return 1 - self.right / self.total if self.total else 0.0
