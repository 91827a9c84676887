"""XLIFF 1.2 and 2.x: units without a translation get one; those that have one stay as they are."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from dragoman.documents.document import Document, DocumentError, Edit, Rewritten, edit
from dragoman.documents.languages import check_language
from dragoman.documents.placeholders import PLACEHOLDER, unused_names
from dragoman.markup.document import Rules
from dragoman.markup.tags import Token, read_tokens
from dragoman.markup.text_reader import TextReader

_UNITS = ("trans-unit", "segment")
"""What has a source and a target, in 1.2 and in 2.x."""

_LANGUAGES = {"file": ("source-language", "target-language"), "xliff": ("srclang", "trglang")}
"""Where the languages are named, and by what, in small letters."""

_SPELLINGS = {"target-language": "target-language", "trglang": "trgLang"}

_PLACEHOLDERS = ("ph", "x", "it", "bx", "ex", "sc", "ec", "cp", "sm", "em")
"""What stands for something of the program, whose place is in the sentence."""

_RULES = Rules(
    untranslated=frozenset(),
    inline=frozenset({"g", "mrk", "pc", "bpt", "ept"}),
    codes={"bpt": "open", "ept": "close"},
    is_xml=True,
)
_RULES_OF_SEGMENTS = replace(_RULES, block=frozenset(["mrk"]))

_STATE = ' state="needs-review-translation" state-qualifier="leveraged-mt"'
"""That a program has translated it, in the words of XLIFF 1.2."""

_OTHER_STATE = re.compile(
    r"""\s+ state(?:-qualifier)? \s* = \s* (?: "[^"]*" | '[^']*' )""", re.VERBOSE
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+) \s* = \s* (?: "([^"]*)" | '([^']*)' )""", re.VERBOSE)


class _Part(NamedTuple):
    """An element of a unit, by the places of its tags in the list of tokens."""

    opening: int
    closing: int


class _File:
    """The tokens of a file, and where each begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = read_tokens(text, is_xml=True, is_string=False)
        self.starts = [0, *accumulate(len(token.raw) for token in self.tokens)]
        self._line_ends = [found.start() for found in re.finditer("\n", text)]

    def line(self, place: int) -> int:
        """Return the line of a token, from 1."""
        return bisect(self._line_ends, self.starts[place]) + 1

    def inside(self, part: _Part) -> str:
        """Return what stands between the tags of an element."""
        return self.text[self.starts[part.opening + 1] : self.starts[part.closing]]

    def end(self, opening: int) -> int:
        """Find the token that ends an element.

        Raises:
            DocumentError: there is none.
        """
        if self.tokens[opening].kind != "open":
            return opening
        depth = 0
        for place in range(opening, len(self.tokens)):
            if _name(self.tokens[place]) == _name(self.tokens[opening]):
                depth += {"open": 1, "close": -1}.get(self.tokens[place].kind, 0)
            if depth == 0:
                return place
        raise DocumentError(self.line(opening), f"<{_name(self.tokens[opening])}> is not closed")


def take_xliff_apart(text: str, reader: TextReader) -> Document:
    """Take an XLIFF file apart.

    Raises:
        DocumentError: it is not XLIFF, or between other languages than the model's.
    """
    file = _File(text)
    edits: list[Edit] = []
    num_units = place = 0
    untranslated_until = -1
    while place < len(file.tokens):
        token = file.tokens[place]
        is_translated = place > untranslated_until
        if is_translated and token.kind == "open" and token.marked:
            untranslated_until = file.end(place)
            is_translated = False
        if token.kind == "open" and _name(token) in _LANGUAGES:
            edits += _check_languages(file, place, reader)
        elif token.kind == "open" and _name(token) in _UNITS:
            num_units += 1
            end = file.end(place)
            edits += _fill(file, place, end, reader) if is_translated else []
            place = end
        place += 1
    if not num_units:
        raise DocumentError(1, "no <trans-unit> (XLIFF 1.2) and no <segment> (2.x) is in it")
    return edit(text, edits)


def _name(token: Token) -> str:
    return token.name.rpartition(":")[2]


def _attributes(tag: str) -> Mapping[str, str]:
    """Read the attributes of a tag, by names in small letters."""
    return {name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(tag)}


def _check_languages(file: _File, place: int, reader: TextReader) -> Iterator[Edit]:
    """Refuse other languages than the model's, and name the target if nothing does."""
    tag = file.tokens[place].raw
    attributes = _attributes(tag)
    source, target = _LANGUAGES[_name(file.tokens[place])]
    check_language(attributes.get(source, ""), reader.source, file.line(place), "from")
    check_language(attributes.get(target, ""), reader.target, file.line(place), "into")
    if source in attributes and target not in attributes:
        end = file.starts[place] + len(tag.rstrip("/>").rstrip())
        yield Edit(end, end, f' {_SPELLINGS[target]}="{reader.target}"')


def _fill(file: _File, opening: int, closing: int, reader: TextReader) -> Iterator[Edit]:
    """Write the translation of a unit, unless it has one."""
    parts = _parts(file, opening, closing)
    source, target = parts.get("source"), parts.get("target")
    if source is None or not file.inside(source).strip():
        return
    if target is not None and file.inside(target).strip():
        return
    origin = parts.get("seg-source", source)
    rules = _RULES if origin is source else _RULES_OF_SEGMENTS
    token = file.tokens[source.opening]
    name = token.raw[1 : 1 + len(token.name)].removesuffix("source") + "target"
    if target is None:
        start = end = file.starts[origin.closing + 1]
        indent = file.tokens[source.opening - 1].raw
        tag = f"{indent[len(indent.rstrip()) :]}<{name}"
    else:
        start, end = file.starts[target.opening], file.starts[target.closing + 1]
        tag = file.tokens[target.opening].raw.rstrip("/> \t\r\n")
    if _name(file.tokens[opening]) == "trans-unit":
        tag = _OTHER_STATE.sub("", tag) + _STATE
    shown, placeholders = _show(file, origin)
    write = partial(_write, placeholders=placeholders, before=f"{tag}>", after=f"</{name}>")
    yield Edit(start, end, Rewritten(reader.read_markup(shown, rules), write))


def _show(file: _File, part: _Part) -> tuple[str, dict[str, str]]:
    """Write placeholders in a way that a translation keeps.

    Returns:
        The content of an element, and what each placeholder in it stands for.
    """
    content, placeholders = file.inside(part), dict[str, str]()
    names = unused_names(content)
    shown = []
    place = part.opening + 1
    while place < part.closing:
        end = place
        if _name(file.tokens[place]) in _PLACEHOLDERS:
            end = file.end(place)
            name = next(names)
            placeholders[name] = file.text[file.starts[place] : file.starts[end + 1]]
            shown.append(name)
        else:
            shown.append(file.tokens[place].raw)
        place = end + 1
    return "".join(shown), placeholders


def _write(text: str, placeholders: Mapping[str, str], before: str, after: str) -> str:
    """Write a target. A placeholder that was lost stands at its end, as a program needs it."""
    lost = dict(placeholders)

    def put_back(found: re.Match[str]) -> str:
        lost.pop(found[0], None)
        return placeholders.get(found[0], found[0])

    return before + PLACEHOLDER.sub(put_back, text) + "".join(lost.values()) + after


def _parts(file: _File, opening: int, closing: int) -> dict[str, _Part]:
    """Find the elements right inside a unit; alternatives and notes have their own, deeper ones."""
    parts: dict[str, _Part] = {}
    place = opening + 1
    while place < closing:
        token = file.tokens[place]
        end = file.end(place)
        if token.kind in ("open", "void"):
            parts.setdefault(_name(token), _Part(place, end))
        place = end + 1
    return parts
