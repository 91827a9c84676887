"""Sentence pairs from translation memories (TMX 1.1 to 1.4b), in constant memory."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.xml_units import Text, Unit, UnitReader, Words

PLACEHOLDERS = ("ph",)
"""Elements within a text that stand for something between words."""

NATIVE_CODES = ("bpt", "ept", "it", "ut", *PLACEHOLDERS)
"""Elements within a text that hold the formatting of the program it is from, not its words."""


def read_tmx(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each unit.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no unit has both languages.
    """
    return _Memory(path).pairs(languages)


class _Memory(UnitReader):
    """Finds the texts of a memory in all its languages."""

    format, content = "TMX", "memory"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._unit = Unit(0, [])
        self._language: str | None = None  # while a <tuv> has no text yet
        self._words: Words | None = None  # while a <seg> is open

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._words is not None:
            self._words.start(name)
        elif name == "tu":
            self._unit = Unit(self._line, [])
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang", "")
        elif name == "seg":
            if self._language is None:
                raise CorpusError(
                    f"{self._path}:{self._line}: a <seg> that is not the only one of a <tuv>; "
                    "join the two, or give each a <tu> of its own"
                )
            self._words = Words(NATIVE_CODES, PLACEHOLDERS)

    def _add(self, text: str) -> None:
        if self._words is not None:
            self._words.add(text)

    def _end(self, name: str) -> None:
        if self._words is not None:
            if not self._words.end() and name == "seg":
                self._unit.texts.append(Text(self._language or "", self._words.text()))
                self._words = self._language = None
        elif name == "tu":
            self._found(self._unit)
