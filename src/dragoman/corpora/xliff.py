"""Sentence pairs from XLIFF 1.2 and 2, in constant memory."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dragoman.corpora.xml_units import Text, Unit, UnitReader, Words

PLACEHOLDERS = ("ph", "x", "cp")
"""Elements within a text that stand for something between words. XLIFF 2 has `cp` for characters
that XML cannot have, which are no letters."""

NATIVE_CODES = ("bpt", "ept", "it", *PLACEHOLDERS)
"""Elements within a text that hold the formatting of the program it is from, not its words."""

UNITS = ("trans-unit", "segment")
"""What holds a text and its translation, in XLIFF 1.2 and 2."""

INHERITING = ("file", "group", "unit", "trans-unit")
"""Elements that say whether what is in them is to be translated."""

UNCONFIRMED = ("new", "needs-", "initial")
"""How the states of translations begin that nobody has confirmed."""


def read_xliff(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each segment.

    A unit of XLIFF 1.2 is one pair; if it is cut into segments that its two sides have in common,
    each is a pair. Where there is no translation, or nobody has confirmed it, or the text is not to
    be translated (what stands beside it is then a copy), the side of the translation is empty,
    which cleaning leaves out and counts.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no unit has both languages.
    """
    return _Document(path).pairs(languages)


class _Segment(NamedTuple):
    """A part of a text that a translator works at."""

    id: str
    line: int
    text: str


class _Side:
    """A text of a unit, and the segments that XLIFF 1.2 cuts it into."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.words = Words(NATIVE_CODES, PLACEHOLDERS)
        self.segments: list[_Segment] = []
        self._open: list[tuple[int, int, str, int]] = []  # depth, line, id, where its words begin
        self._depth = 0

    def start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        """Enter an element within the text."""
        self.words.start(name)
        self._depth += 1
        if name == "mrk" and attributes.get("mtype") == "seg":
            self._open.append((self._depth, line, attributes.get("mid", ""), len(self.words)))

    def end(self) -> bool:
        """Leave an element, and tell whether it was the text itself."""
        self.words.end()
        if self._open and self._open[-1][0] == self._depth:
            _, line, id, start = self._open.pop()
            self.segments.append(_Segment(id, line, self.words.text(start)))
        self._depth -= 1
        return self._depth < 0

    def is_cut(self) -> bool:
        """Tell whether all words are in one segment each."""
        words, in_segments = (
            sum(map(str.isalnum, text))
            for text in (self.words.text(), "".join(segment.text for segment in self.segments))
        )
        return words == in_segments


class _Document(UnitReader):
    """Finds the texts of a document and their translations."""

    format, content = "XLIFF", "file"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._prefix = ""  # of all elements that are XLIFF
        self._open: list[str] = []
        self._languages = "", ""  # source and target
        self._is_to_translate = [True]  # of the elements in each other
        self._state = ""
        self._line_of_unit = 0
        self._sides: dict[str, _Side] = {}
        self._side: _Side | None = None

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._open and name.endswith(":xliff"):
            self._prefix = name.removesuffix("xliff")
        name = name.removeprefix(self._prefix)
        if self._side is not None:
            self._side.start(name, attributes, self._line)
            return
        if self._open and self._open[-1] in UNITS:
            self._begin_side(name, attributes)
        elif name in UNITS:
            self._sides, self._line_of_unit = {}, self._line
            self._state = attributes.get("state", "")
        elif name in ("xliff", "file"):
            self._read_languages(attributes)
        if name in INHERITING:
            translate = attributes.get("translate")
            inherited = self._is_to_translate[-1]
            self._is_to_translate.append(inherited if translate is None else translate == "yes")
        self._open.append(name)

    def _add(self, text: str) -> None:
        if self._side is not None:
            self._side.words.add(text)

    def _end(self, name: str) -> None:
        name = name.removeprefix(self._prefix)
        if self._side is not None:
            if not self._side.end():
                return
            self._side = None
        elif name in UNITS:
            self._end_unit()
        if name in INHERITING:
            self._is_to_translate.pop()
        self._open.pop()

    def _read_languages(self, attributes: Mapping[str, str]) -> None:
        """Read the languages that an element declares for all in it."""
        for source, target in (("srcLang", "trgLang"), ("source-language", "target-language")):
            if source in attributes:
                self._languages = attributes[source], attributes.get(target, "")

    def _begin_side(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin a text, if an element within a unit is one; others have texts of their own."""
        if name not in ("source", "seg-source", "target"):
            return
        language = self._languages[name == "target"] or attributes.get("xml:lang", "")
        self._side = self._sides[name] = _Side(language)
        if name == "target":
            self._state = attributes.get("state", self._state)

    def _end_unit(self) -> None:
        """Keep the pairs of a unit."""
        nothing = _Side(""), _Side(self._languages[1])
        source = self._sides.get("source", nothing[0])
        target = self._sides.get("target", nothing[1])
        cut = self._sides.get("seg-source", source)
        pairs = _segments(cut, target) or [
            (self._line_of_unit, source.words.text(), target.words.text())
        ]
        is_confirmed = self._is_to_translate[-1] and not self._state.startswith(UNCONFIRMED)
        for line, text, translation in pairs:
            texts = [
                Text(source.language, text),
                Text(target.language, translation if is_confirmed else ""),
            ]
            self._found(Unit(line, texts))


def _segments(source: _Side, target: _Side) -> list[tuple[int, str, str]]:
    """Return the segments that both sides have, if these are all, each with its line."""
    translations = {segment.id: segment.text for segment in target.segments}
    ids = sorted(segment.id for segment in source.segments)
    if ids != sorted(translations) or len(translations) < len(target.segments):
        return []
    if not (source.is_cut() and target.is_cut()):
        return []  # what stands between the segments would be in no pair
    return [(line, text, translations[id]) for id, line, text in source.segments]
