"""Units of text in two languages or more from XML, in constant memory."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from dragoman.corpora.text_file import CorpusError, on_one_line, open_uncompressed
from dragoman.languages.codes import closest_languages, is_language_code, language_code
from dragoman.languages.scripts import UNSPACED_CHARACTER, is_mark

CHUNK = 2**16  # bytes given to the parser at once

LONGEST_CHARACTER = 4  # bytes of UTF-8

INVALID_TOKEN = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]

PLACEHOLDERS = ("ph", "x", "cp")
"""Elements within a text that stand for something between words. XLIFF 2 has `cp` for characters
that XML cannot have, which are no letters."""

NATIVE_CODES = ("bpt", "ept", "it", "ut", *PLACEHOLDERS)
"""Elements within a text that hold the formatting of the program it is from, not its words; in TMX
and all versions of XLIFF."""

_PLACE = "\0"  # which XML cannot have
_PLACES = re.compile(f"{_PLACE}+")


class Text(NamedTuple):
    """A text of a unit, and the code of its language."""

    language: str
    text: str


class Unit(NamedTuple):
    """A text in several languages."""

    line: int
    texts: list[Text]


class Element(NamedTuple):
    """An element within a unit, or a unit itself."""

    name: str
    attributes: Mapping[str, str]
    line: int
    content: "list[Element | str]"


def walk(element: Element, closed: Collection[str]) -> "Iterator[Element | str]":
    """Yield all that is in an element, in order, but not what is in others of some names.

    Nor what a reviser has deleted, which Trados keeps in a mark for the next one to accept.
    """
    waiting = element.content[::-1]  # not recursive: a file may nest as deeply as it likes
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Element) and each.name not in closed and not _is_deleted(each):
            waiting += each.content[::-1]


def _is_deleted(element: Element) -> bool:
    return element.attributes.get("mtype", "").endswith("-deleted")


def words(element: Element) -> str:
    """Return the text of an element on one line, without the formatting of the program it is from.

    Other formatting than placeholders may begin and end within a word.
    """
    parts = [
        each if isinstance(each, str) else _PLACE
        for each in walk(element, NATIVE_CODES)
        if isinstance(each, str) or each.name in PLACEHOLDERS
    ]
    return on_one_line(_without_codes("".join(parts)))


class UnitReader:
    """Reads the units of a file one after the other.

    Nothing is fetched from elsewhere, and a file that declares entities is refused: a few of them
    can expand to more text than any memory holds.
    """

    format: str
    """What the format is called."""
    content: str
    """What a file of it is called."""
    units: tuple[str, ...]
    """The elements that are units; none is in another."""
    has_synonyms = False
    """Whether a unit may have several texts in a language, each of which translates all others."""

    def __init__(self, path: Path) -> None:
        self._path, self._parser = path, expat.ParserCreate()
        self._prefix: str | None = None  # of the first element, and of all that are of the format
        self._open: list[Element] = []  # a unit, and the elements in it that have begun
        self._units: list[Unit] = []  # those that have not been taken
        self._bytes_parsed = 0
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add
        self._parser.EntityDeclHandler = self._refuse_entity
        self._parser.SkippedEntityHandler = self._refuse_entity

    def pairs(self, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
        """Yield source, target and the number of the first line of each unit.

        A side is the text whose language code is that of the run, or else the first one that
        `closest_language` finds: en-GB serves en. A unit without such a text has an empty side,
        which cleaning leaves out and counts; in a format with synonyms it has no pair.

        Raises:
            CorpusError: the file is missing, cut short or badly written, or no unit has both
                languages.
        """
        has_both, there = False, dict[str, None]()
        for unit in self._read():
            there |= dict.fromkeys(text.language for text in unit.texts if text.language)
            sources, targets = _sides(unit.texts, languages)
            has_both |= bool(sources and targets)
            if not self.has_synonyms:
                sources, targets = sources[:1] or [""], targets[:1] or [""]
            for source, target in product(sources, targets):
                yield source, target, unit.line
        if not has_both:
            if not there:
                raise CorpusError(f"{self._path}: it has no translation unit; is it {self.format}?")
            raise CorpusError(
                f"{self._path}: no unit has both {languages[0]} and {languages[1]}; "
                f"{_remedy(list(there))}"
            )

    def _read_unit(self, unit: Element) -> Iterator[Unit]:
        """Read the texts of a unit, which may have several parts."""
        raise NotImplementedError

    def _enter(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take note of an element around units, which may say something about them."""

    def _leave(self, name: str) -> None:
        """Take note of its end."""

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._prefix is None:
            self._prefix = name[: name.rfind(":") + 1]
        name = name.removeprefix(self._prefix)
        if not self._open and name not in self.units:
            self._enter(name, attributes)
            return
        element = Element(name, attributes, self._parser.CurrentLineNumber, [])
        if self._open:
            self._open[-1].content.append(element)
        self._open.append(element)

    def _add(self, text: str) -> None:
        if self._open:
            self._open[-1].content.append(text)

    def _end(self, name: str) -> None:
        if not self._open:
            self._leave(name.removeprefix(self._prefix or ""))
            return
        element = self._open.pop()
        if not self._open:
            self._units += self._read_unit(element)

    def _read(self) -> Iterator[Unit]:
        """Yield each unit when it has been read."""
        is_whole = False
        with open_uncompressed(self._path, lambda: self._parser.CurrentLineNumber - 1) as stream:
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
            raise CorpusError(f"{self._path}:{error.lineno}: {self._fault(error, chunk)}") from None
        except (LookupError, ValueError) as error:  # unknown names and multi-byte encodings
            raise CorpusError(
                f"{self._path}: its encoding is not supported ({error}); convert it to UTF-8, "
                "and change its first line to match"
            ) from None
        self._bytes_parsed += len(chunk)
        units, self._units = self._units, []
        return units

    def _fault(self, error: expat.ExpatError, chunk: bytes) -> str:
        """Say what is wrong with a chunk, and what helps."""
        place = self._parser.ErrorByteIndex - self._bytes_parsed
        character = chunk[place : place + LONGEST_CHARACTER].decode(errors="replace")[:1]
        if error.code == INVALID_TOKEN and place >= 0 and character == "\ufffd":
            return (
                "not in the encoding that the first line names, or in UTF-8 if it names none "
                f"(byte 0x{chunk[place]:02x}); convert the file to UTF-8, as with "
                "iconv -f WINDOWS-1252 -t UTF-8 if it is from Windows"
            )
        reason = expat.ErrorString(error.code)
        return f"not well-formed XML ({reason}); export the {self.content} again, or fix the line"

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self._path}:{self._parser.CurrentLineNumber}: the entity {name} is not built into "
            "XML; write the text that it stands for"
        )


def _without_codes(text: str) -> str:
    """Drop the places of placeholders, but keep the words on both sides of one apart."""
    parts = _PLACES.split(text)
    joined = parts[:1]
    for before, part in pairwise(parts):
        joined += [" ", part] if _is_apart(before[-1:], part[:1]) else [part]
    return "".join(joined)


def _is_apart(last: str, first: str) -> bool:
    """Tell whether two characters belong to words with a space between them."""
    if any(map(UNSPACED_CHARACTER.match, (last, first))):
        return False
    return first.isalnum() and (last.isalnum() or is_mark(last) or last in tuple(".,;:!?"))


def _remedy(there: Sequence[str]) -> str:
    """Say what to do about a file that has other languages; only codes can be named."""
    if len(there) == 1:
        return (
            f"the only language in it is {there[0]}: name a file that has translations, too, and "
            "says in which language they are"
        )
    codes = [code for code in there if is_language_code(code) and not language_code(code)]
    name_them = "name two of them, or " if len(codes) > 1 else ""
    return (
        f"the languages in it are {', '.join(there)}: {name_them}write these two codes into the "
        "file"
    )


def _sides(texts: Sequence[Text], languages: tuple[str, str]) -> tuple[list[str], list[str]]:
    """Find the texts of two languages; one text is not both, as that in pt for pt-PT and pt-BR."""
    there = [text.language for text in texts]
    sources, targets = (
        [text.text for text in texts if text.language == code]
        for code in closest_languages(there, languages)
    )
    return sources, targets
