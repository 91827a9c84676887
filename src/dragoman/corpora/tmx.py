"""Sentence pairs from translation memories (TMX 1.1 to 1.4b), in constant memory."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from dragoman.corpora.text_file import CorpusError, on_one_line, open_uncompressed
from dragoman.languages.codes import base_language, same_language
from dragoman.languages.scripts import UNSPACED_CHARACTER, is_mark

CHUNK = 2**16  # bytes given to the parser at once

NATIVE_CODES = ("bpt", "ept", "it", "ph", "ut")
"""Elements within a text that hold the formatting of the program it is from, not its words."""

PLACEHOLDER = "ph"
"""It stands for something between words, such as a line break; the others are formatting, which may
begin and end within a word."""

_PLACE = "\0"  # which XML cannot have


def read_tmx(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each unit.

    A side is the text whose language code is that of the run, or else the first one whose code
    differs only in that one of the two has a region: en-GB serves en. A unit without such a text
    has an empty side, which cleaning leaves out and counts.

    Nothing is fetched from elsewhere, and a file that declares entities is refused: a few of them
    can expand to more text than any memory holds.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no unit has both languages.
    """
    parser = expat.ParserCreate()
    memory = _Memory(path, parser)
    has_both = is_whole = False
    with open_uncompressed(path, lambda: parser.CurrentLineNumber - 1) as stream:
        while not is_whole:
            chunk = stream.read(CHUNK)
            is_whole = not chunk
            for unit in memory.parse(chunk, is_last=is_whole):
                source, target = (_find(unit.texts, language) for language in languages)
                has_both |= source is not None and target is not None
                yield source or "", target or "", unit.line
    if not has_both:
        if not memory.languages:
            raise CorpusError(f"{path}: it has no translation unit; is it TMX?")
        there = ", ".join(memory.languages)
        raise CorpusError(
            f"{path}: no unit has both {languages[0]} and {languages[1]}; the languages in it are "
            f"{there}: name two of them, or write these two codes into the file"
        )


class _Text(NamedTuple):
    """A text of a unit, and the code of its language."""

    language: str
    text: str


class _Unit(NamedTuple):
    """A text in several languages."""

    line: int
    texts: list[_Text]


class _Memory:
    """Collects the units that a parser finds, until they are taken.

    Attributes:
        languages: All that occurred, in order.
    """

    def __init__(self, path: Path, parser: expat.XMLParserType) -> None:
        self.languages: dict[str, None] = {}
        self._path, self._parser = path, parser
        self._units: list[_Unit] = []
        self._unit = _Unit(0, [])
        self._language = ""
        self._text: list[str] | None = None  # while a <seg> is open
        self._depth_of_code = 0
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        parser.EntityDeclHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._refuse_entity

    def parse(self, chunk: bytes, *, is_last: bool) -> list[_Unit]:
        """Parse the next part of the file, and return the units that end in it.

        Raises:
            CorpusError: it is not well-formed, or in an encoding that is not read.
        """
        try:
            self._parser.Parse(chunk, is_last)
        except CorpusError:
            raise
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise CorpusError(
                f"{self._path}:{error.lineno}: not well-formed XML ({reason}); export the memory "
                "again, or fix the line"
            ) from None
        except (LookupError, ValueError) as error:  # unknown names and multi-byte encodings
            raise CorpusError(
                f"{self._path}: its encoding is not supported ({error}); convert it to UTF-8, "
                "and change its first line to match"
            ) from None
        units, self._units = self._units, []
        return units

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._depth_of_code or (self._text is not None and name in NATIVE_CODES):
            if self._text is not None and name == PLACEHOLDER and not self._depth_of_code:
                self._text.append(_PLACE)
            self._depth_of_code += 1
        elif name == "tu":
            self._unit = _Unit(self._parser.CurrentLineNumber, [])
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang", "")
        elif name == "seg":
            self._text = []

    def _add(self, text: str) -> None:
        if self._text is not None and not self._depth_of_code:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if self._depth_of_code:
            self._depth_of_code -= 1
        elif name == "seg" and self._text is not None:
            text = on_one_line(_without_codes("".join(self._text)))
            self._unit.texts.append(_Text(self._language, text))
            if self._language:
                self.languages[self._language] = None
            self._text = None
        elif name == "tu":
            self._units.append(self._unit)

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self._path}:{self._parser.CurrentLineNumber}: the entity {name} is not built "
            "into XML; write the text that it stands for"
        )


def _without_codes(text: str) -> str:
    """Drop the places of placeholders, but keep the words on both sides of one apart."""
    first, *others = re.split(f"{_PLACE}+", text)
    joined = [first]
    for before, part in pairwise([first, *others]):
        joined += [" ", part] if _is_apart(before[-1:], part[:1]) else [part]
    return "".join(joined)


def _is_apart(last: str, first: str) -> bool:
    """Tell whether two characters belong to words with a space between them."""
    if any(map(UNSPACED_CHARACTER.match, (last, first))):
        return False
    return first.isalnum() and (last.isalnum() or is_mark(last) or last in tuple(".,;:!?"))


def _find(texts: Sequence[_Text], language: str) -> str | None:
    """Find the text of a language."""
    for fits in (same_language, _differ_in_having_a_region):
        for code, text in texts:
            if fits(code, language):
                return text
    return None


def _differ_in_having_a_region(one: str, other: str) -> bool:
    """Tell whether two codes are of one language, and one of them names nothing but that language.

    >>> _differ_in_having_a_region("EN-GB", "en"), _differ_in_having_a_region("pt-PT", "pt-BR")
    (True, False)
    """
    base = base_language(one)
    return base == base_language(other) and (same_language(base, one) or same_language(base, other))
