"""Units of text in two languages or more from XML, in constant memory."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from dragoman.corpora.text_file import CorpusError, on_one_line, open_uncompressed
from dragoman.languages.codes import closest_language
from dragoman.languages.scripts import UNSPACED_CHARACTER, is_mark

CHUNK = 2**16  # bytes given to the parser at once

_PLACE = "\0"  # which XML cannot have


class Text(NamedTuple):
    """A text of a unit, and the code of its language."""

    language: str
    text: str


class Unit(NamedTuple):
    """A text in several languages."""

    line: int
    texts: list[Text]


class Words:
    """Collects a text without the native codes in it: the formatting of the program it is from."""

    def __init__(self, codes: Collection[str], placeholders: Collection[str]) -> None:
        """Begin a text.

        Args:
            codes: Elements that hold native codes.
            placeholders: Those of them that stand for something between words, such as a line
                break; the others are formatting, which may begin and end within a word.
        """
        self._codes, self._placeholders = codes, placeholders
        self._parts: list[str] = []
        self._depth_of_code = 0

    def start(self, name: str) -> None:
        """Enter an element."""
        if not self._depth_of_code and name in self._placeholders:
            self._parts.append(_PLACE)
        if self._depth_of_code or name in self._codes:
            self._depth_of_code += 1

    def add(self, text: str) -> None:
        """Add what stands in an element, unless it is a native code."""
        if not self._depth_of_code:
            self._parts.append(text)

    def end(self) -> bool:
        """Leave the element that was entered last, and tell whether it was part of a code."""
        is_code = self._depth_of_code > 0
        self._depth_of_code -= is_code
        return is_code

    def __len__(self) -> int:
        return len(self._parts)

    def text(self, start: int = 0) -> str:
        """Return all words, or those from when the length was `start`, on one line."""
        return on_one_line(_without_codes("".join(self._parts[start:])))


class UnitReader:
    """Collects the units that a parser finds, until they are taken.

    Nothing is fetched from elsewhere, and a file that declares entities is refused: a few of them
    can expand to more text than any memory holds.

    Attributes:
        languages: The codes of all texts that occurred, in order.
    """

    format: str
    """What the format is called."""
    content: str
    """What a file of it is called."""

    def __init__(self, path: Path) -> None:
        self.languages: dict[str, None] = {}
        self._path, self._parser = path, expat.ParserCreate()
        self._units: list[Unit] = []
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add
        self._parser.EntityDeclHandler = self._refuse_entity
        self._parser.SkippedEntityHandler = self._refuse_entity

    def pairs(self, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
        """Yield source, target and the number of the first line of each unit.

        A side is the text whose language code is that of the run, or else the first one whose code
        differs only in that one of the two has a region: en-GB serves en. A unit without such a
        text has an empty side, which cleaning leaves out and counts.

        Raises:
            CorpusError: the file is missing, cut short or badly written, or no unit has both
                languages.
        """
        has_both = False
        for unit in self._read():
            source, target = (_find(unit.texts, language) for language in languages)
            has_both |= source is not None and target is not None
            yield source or "", target or "", unit.line
        if not has_both:
            if not self.languages:
                raise CorpusError(f"{self._path}: it has no translation unit; is it {self.format}?")
            there = ", ".join(self.languages)
            raise CorpusError(
                f"{self._path}: no unit has both {languages[0]} and {languages[1]}; the languages "
                f"in it are {there}: name two of them, or write these two codes into the file"
            )

    @property
    def _line(self) -> int:
        """The line that the parser is at."""
        return self._parser.CurrentLineNumber

    def _found(self, unit: Unit) -> None:
        """Keep a unit until it is taken."""
        self._units.append(unit)
        self.languages |= dict.fromkeys(text.language for text in unit.texts if text.language)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Enter an element."""
        raise NotImplementedError

    def _add(self, text: str) -> None:
        """Read a part of the text within an element."""
        raise NotImplementedError

    def _end(self, name: str) -> None:
        """Leave an element."""
        raise NotImplementedError

    def _read(self) -> Iterator[Unit]:
        """Yield each unit when it has been read."""
        is_whole = False
        with open_uncompressed(self._path, lambda: self._line - 1) as stream:
            while not is_whole:
                chunk = stream.read(CHUNK)
                is_whole = not chunk
                yield from self._parse(chunk, is_last=is_whole)

    def _parse(self, chunk: bytes, *, is_last: bool) -> list[Unit]:
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
                f"{self._path}:{error.lineno}: not well-formed XML ({reason}); export the "
                f"{self.content} again, or fix the line"
            ) from None
        except (LookupError, ValueError) as error:  # unknown names and multi-byte encodings
            raise CorpusError(
                f"{self._path}: its encoding is not supported ({error}); convert it to UTF-8, "
                "and change its first line to match"
            ) from None
        units, self._units = self._units, []
        return units

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self._path}:{self._line}: the entity {name} is not built into XML; write the text "
            "that it stands for"
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


def _find(texts: Sequence[Text], language: str) -> str | None:
    """Find the text of a language."""
    code = closest_language([text.language for text in texts], language)
    return next((text.text for text in texts if text.language == code), None)
