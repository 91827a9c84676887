"""Subtitles, as SubRip and WebVTT: times stay; a sentence over several cues is translated at once.

A cue is what is shown from one time to another. Where a sentence goes on in the next cues, its
translation is spread over them, by length, and preferably cut after punctuation.
"""

import re
import string
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

from dragoman.documents.document import (
    Document,
    DocumentError,
    Edit,
    Rewritten,
    edit,
    join_with,
    line_break_of,
)
from dragoman.documents.rolling import RollingLine, read_rolling_lines, write_rolling_lines
from dragoman.documents.spreading import TAG, break_lines, spread
from dragoman.languages.scripts import CLOSING, RANGES, SENTENCE_ENDS
from dragoman.markup.passage import Passage
from dragoman.markup.rules import STRING
from dragoman.markup.spacing import unwrap
from dragoman.markup.text_reader import TextReader
from dragoman.tokenizers.normalisation import undirected

_TIME = r"(?:(\d+):)?(\d\d?):(\d\d)[,.](\d{1,3})"
_TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t].*)?\s*")
_ALMOST = re.compile(rf"[ \t]*(?:{_TIME}[ \t]*[-–—]{{1,3}}>|-?\d+:\d\d[\d:.,; \t]*-->)")
"""A line of times with a slip in it, which would be shown as words."""

_NUMBER = re.compile(r"\s*\d+\s*")

_TIME_WITHIN = re.compile(rf"<{_TIME}>")
_TIMED = re.compile(rf"{_TIME_WITHIN.pattern}|</?c\b[^<>]*>")
"""Times within a cue, at which its words are sung or said, with the tags around these words."""

_TAGS_BEFORE = re.compile(rf"(?:\s*(?:{TAG.pattern}))*\s*")
_EACH_LINE = re.compile(r"</(\w+)>(\s+)<\1>")
"""Between lines that have the same tag around them, each."""

_END = re.compile(
    rf"(?:[{SENTENCE_ENDS}♪\])）］】]|(?<=[{RANGES['Greek']}]);)[{re.escape(CLOSING)}]*"
)
_SPEAKER = re.compile(r"<(?:v|font)\b")
"""A voice or a colour, by which speakers are told apart."""

_SOUND = re.compile(r"\s*(?:\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|［[^［］]*］)\s*")
"""A line that says what is heard, such as a door."""

_APART = (*"[(♪♫-–—（［【", ">>", "&gt;&gt;")
"""Signs with which no cue goes on: sounds, songs, another speaker."""

_MARK = re.compile(
    r"""[^\S\n]*+ (?: (?: [-–—♪♫]++ | (?:>|&gt;){2,3} ) [^\S\n]*+ )? (?: \.{3} | … )?
    (?: (?P<name> [^\W\d_] [\w\ .'’#&()-]{0,30} ) : [^\S\n]++ )?""",
    re.VERBOSE,
)
"""What may stand before the words of a line: a dash or a note, two angles as on television, three
points with which it goes on, the name of who speaks."""

_NOTES = string.whitespace + "♪♫"
"""What may stand behind the words, and stays."""

_LONGEST_GAP = 2000  # milliseconds without a cue, within a sentence
_MOST_CUES = 6  # with one sentence; without punctuation there is no end to see


class Cue(NamedTuple):
    """What is shown at once."""

    begin: int  # milliseconds
    end: int
    place: tuple[int, int]
    """Offsets of its text in the file."""

    before: str
    """Tags around all of the text, which stay."""

    words: str
    after: str

    @property
    def turns(self) -> list[str]:
        """Its words, cut before each line in which somebody else speaks, or a song goes on.

        What is heard, in brackets on a line of its own, is a turn, too.
        """
        first, *lines = re.split(r"(?<=\n)", self.words)
        cuts, previous, is_marked = [0], first, bool(_mark(first))
        end = len(first)
        for line in lines:
            is_over = _is_over(previous)
            starts = (_mark(line) and (is_marked or is_over)) or _SOUND.fullmatch(previous)
            if starts or (is_over and _SPEAKER.match(line)) or _SOUND.fullmatch(line):
                cuts.append(end)
            previous, end = line, end + len(line)
        return [self.words[a:b] for a, b in pairwise([*cuts, end])]

    @property
    def is_over(self) -> bool:
        """Whether a sentence ends with it, or it has no words."""
        return _is_over(self.words) or not any(map(str.isalpha, self.words))

    def goes_on(self, other: "Cue", *, is_punctuated: bool) -> bool:
        """Tell whether a sentence goes on in the next cue.

        Args:
            other: The next cue.
            is_punctuated: Whether sentences end with punctuation in this file; otherwise only a
                small letter shows that one goes on.
        """
        is_plain = not any(TAG.search(cue.words) for cue in (self, other))
        are_alike = (self.before, self.after) == (other.before, other.after)
        is_over = self.is_over or other.words.startswith(_APART) or len(self.turns) > 1
        is_soon = other.begin - self.end <= _LONGEST_GAP
        is_middle = is_punctuated or other.words[:1].islower()
        return is_plain and are_alike and not is_over and is_soon and is_middle


def _is_over(text: str) -> bool:
    """Tell whether a sentence ends with a text."""
    words = TAG.sub("", text).rstrip()
    return any(found.end() == len(words) for found in _END.finditer(words))


def _mark(line: str) -> str:
    """Return what stands before the words of a line, which stays; a name is in capitals."""
    found = _MARK.match(line)
    if found is None or (found["name"] and (not found["name"].isupper() or line.isupper())):
        return ""
    return found[0]


def _take_apart(text: str, reader: TextReader, *, blank_ends: bool) -> Passage:
    """Take a file apart.

    Raises:
        DocumentError: it has no times, or a slip in one.
    """
    cues = [cue for cue in _read_cues(text, blank_ends=blank_ends) if cue.words]
    places = [(cue.begin, cue.end, cue.place) for cue in cues]
    if lines := read_rolling_lines(text, places, partial(_TIMED.sub, "")):
        return Rewritten(
            _read_rolling(lines, reader), partial(write_rolling_lines, text=text, lines=lines)
        )
    line_break = line_break_of(text)
    edits = []
    for group in _group(cues):
        between = [text[a.place[1] : b.place[0]] for a, b in pairwise(group)]
        passage = _read_group(group, between, line_break, reader)
        edits.append(Edit(group[0].place[0], group[-1].place[1], passage))
    return edit(text, edits)


take_subrip_apart = partial(_take_apart, blank_ends=False)
"""Takes a SubRip file apart: a blank line does not end a cue, but the number of the next does."""

take_webvtt_apart = partial(_take_apart, blank_ends=True)
"""Takes a WebVTT file apart: a blank line ends a cue, so notes and styles stay."""


def _read_rolling(lines: Sequence[RollingLine], reader: TextReader) -> Document:
    """Take lines apart as if each were a cue, to be written one below the other, however long."""
    cues = [Cue(line.begin, line.end, (0, 0), "", line.text, "") for line in lines]
    return join_with(
        "\n",
        [_read_group(group, ["\n"] * (len(group) - 1), None, reader) for group in _group(cues)],
    )


def _read_cues(text: str, *, blank_ends: bool) -> Iterator[Cue]:
    """Read what is shown from one line of times to the next.

    Raises:
        DocumentError: there are no times, or a slip in one.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    starts = [0, *accumulate(map(len, lines))]
    timings = [(i, found) for i, line in enumerate(lines) if (found := _TIMING.fullmatch(line))]
    if not timings:
        raise DocumentError(1, "no line has times such as 00:00:01,000 --> 00:00:02,500")
    for number, line in enumerate(lines, start=1):
        if _ALMOST.match(line) and not _TIMING.fullmatch(line):
            raise DocumentError(number, "its times are not like 00:00:01,000 --> 00:00:02,500")
    nexts = [*(i for i, _ in timings[1:]), len(lines)]
    for (i, timing), following in zip(timings, nexts, strict=True):
        last = following
        if i + 1 < last < len(lines) and _NUMBER.fullmatch(lines[last - 1]):
            last -= 1  # the number of the next cue
        if blank_ends:
            blank = (j for j in range(i + 1, last) if not lines[j].strip("\r\n"))
            last = next(blank, last)
        content = text[starts[i + 1] : starts[last]]
        before, after = _find_words(content)
        words = content[before:after]
        if _TIME_WITHIN.search(content):
            before, after = len(content) - len(content.lstrip()), len(content.rstrip())
            words = _TIMED.sub("", content).strip()
        yield Cue(
            _milliseconds(timing.groups()[:4]),
            _milliseconds(timing.groups()[4:]),
            (starts[i + 1] + before, starts[i + 1] + after),
            content[:before].strip(),
            _EACH_LINE.sub(r"\2", undirected(words)),
            content[after:].strip(),
        )


def _find_words(content: str) -> tuple[int, int]:
    """Find the words between tags that are around all of a cue."""
    found = _TAGS_BEFORE.match(content)
    start = found.end() if found else 0
    end = len(content.rstrip())
    while (tag := content.rfind("</", start, end)) >= 0 and content.find(">", tag) == end - 1:
        end = len(content[:tag].rstrip())
    return start, max(start, end)


def _milliseconds(time: Sequence[str | None]) -> int:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in time)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths


def _group(cues: Sequence[Cue]) -> list[list[Cue]]:
    """Put the cues of a sentence together."""
    is_punctuated = 4 * sum(cue.is_over for cue in cues) >= len(cues)
    groups: list[list[Cue]] = []
    for cue in cues:
        if (
            groups
            and len(groups[-1]) < _MOST_CUES
            and groups[-1][-1].goes_on(cue, is_punctuated=is_punctuated)
        ):
            groups[-1].append(cue)
        else:
            groups.append([cue])
    return groups


def _read_group(
    group: Sequence[Cue], between: Sequence[str], line_break: str | None, reader: TextReader
) -> Document:
    """Take the text of some cues apart: that of each speaker, or a sentence that they share.

    Without a line break, the translation of a cue is one line.
    """
    turns = ["\n".join(cue.words for cue in group)] if len(group) > 1 else group[0].turns
    lengths = [len(cue.words) for cue in group]
    write = partial(_write, lengths=lengths, between=between, line_break=line_break)
    parts: list[str | Passage] = []
    for turn in turns:
        mark, end = _mark(turn), len(turn.rstrip(_NOTES))
        words = " ".join(unwrap(turn[len(mark) : end]).split())
        passage = reader.read_markup(words, STRING) if "&" in words else reader.read_string(words)
        parts += [mark, Rewritten(passage, write), turn[end:]]
    return Document(parts)


def _write(
    text: str, lengths: Sequence[int], between: Sequence[str], line_break: str | None
) -> str:
    """Write a translation over cues, in lines that fit."""
    shown = spread(text, lengths)
    if line_break is None:
        shown = [" ".join(part.split()) for part in shown]
    else:
        shown = [line_break.join(break_lines(part)) for part in shown]
    return "".join(map("".join, zip(shown, [*between, ""], strict=True)))
