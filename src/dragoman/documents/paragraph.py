"""A paragraph of an office document: text in several formats, with other things between.

What is translated is each stretch without a tabulator or a line break, with tags where the format
changes and with placeholders for pictures, notes, fields and the like.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from dragoman.languages.scripts import SENTENCE_ENDS
from dragoman.markup.document import Markup
from dragoman.markup.passage import put_together_each
from dragoman.markup.placeholders import PLACEHOLDER, unused_names
from dragoman.markup.rules import Rules
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

Element = Any
"""An element of lxml, which has no types."""

ESCAPED_CONTROL = r"(?<!_x005F)_x00(?:[01][0-9A-Fa-f]|7[Ff])_"
"""A control character, which XML cannot have, as Office writes it: `_x000D_`. If somebody has typed
that, the underscore before it is written as `_x005F_`."""

XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
"""The attribute by which white space at both ends stays."""

_RULES = Rules(untranslated=frozenset(), inline=frozenset({"g"}), is_xml=True)
_BLANK = re.compile(r"\s{3,}")
"""What is there to be written on if it is seen by its format, such as a line below it."""

_MARK = re.compile(rf'<g id="(?P<tag>\d+)">|</g>|(?P<placeholder>{PLACEHOLDER.pattern})')


def name_of(element: Element) -> str:
    """Return the name of an element without its namespace; a comment has none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def in_namespace_of(element: Element, name: str) -> Element:
    """Make an element of some name in the namespace of another."""
    namespace, brace, _ = element.tag.rpartition("}")
    return element.makeelement(namespace + brace + name, nsmap=element.nsmap)


def without_content(element: Element) -> Element:
    """Return a copy of an element with nothing in it."""
    return element.makeelement(element.tag, dict(element.attrib), nsmap=element.nsmap)


class Inline(NamedTuple):
    """A part of a paragraph: text in one format, or something else."""

    around: tuple[Element, ...]
    """The elements around it within the paragraph, which give text its format."""

    text: str | None = None
    format: str = ""
    """What tells the format of text from others."""

    thing: Element = None
    """The element that it is, if there is one for it alone."""

    separates: bool = False
    """Whether nothing that stands before it belongs to a sentence after it."""

    is_lined: bool = False
    """Whether even white space of its format is seen, by a line or a colour."""


def sort_marks(
    parts: Iterable[Inline],
    starts: tuple[str, ...],
    ends: tuple[str, ...],
    floats: Callable[[Element], bool],
) -> tuple[list[Inline], list[Inline], list[Inline]]:
    """Take out what would part a sentence without being in it, such as the marks of a bookmark.

    Args:
        parts: Of a paragraph.
        starts: How the names end of what goes to the beginning of the paragraph.
        ends: How the names end of what goes to its end.
        floats: Tells what stands beside the text, and goes to the beginning, too.

    Returns:
        What goes to the beginning, all other parts, and what goes to the end.
    """
    first, others, last = list[Inline](), list[Inline](), list[Inline]()
    for part in parts:
        thing = part.thing
        if thing is not None and (name_of(thing).endswith(starts) or floats(thing)):
            first.append(part._replace(separates=True))
        elif thing is not None and name_of(thing).endswith(ends):
            last.append(part._replace(separates=True))
        else:
            others.append(part)
    return first, others, last


class Around:
    """Puts elements around what is written; neighbours within one element stay within one."""

    def __init__(self, paragraph: Element) -> None:
        self._paragraph = paragraph
        self._opened: list[tuple[Element, Element]] = []

    def innermost(self, around: Sequence[Element]) -> Element:
        """Return that to which the next part is appended.

        Args:
            around: The elements that were around it, from the outermost to the innermost.
        """
        same = takewhile(
            lambda pair: pair[0][0] is pair[1], zip(self._opened, around, strict=False)
        )
        del self._opened[len(list(same)) :]
        for element in around[len(self._opened) :]:
            copy = without_content(element)
            (self._opened[-1][1] if self._opened else self._paragraph).append(copy)
            self._opened.append((element, copy))
        return self._opened[-1][1] if self._opened else self._paragraph


@dataclass(frozen=True)
class _Stretch:
    """Parts of a paragraph that are translated together."""

    tags: list[Inline]
    """What the text within each tag has the format of."""

    placeholders: dict[str, list[Inline]]
    base: Inline
    """What the text outside tags has the format of."""

    markup: Markup

    def write(self, text: str) -> Iterator[Inline]:
        """Yield the parts of a translation."""
        end, like = 0, self.base
        for found in _MARK.finditer(text):
            if found.start() > end:
                yield like._replace(text=unescape(text[end : found.start()]))
            end = found.end()
            if found["placeholder"] is None:
                like = self.tags[int(found["tag"])] if found["tag"] else self.base
            elif found[0] in self.placeholders:
                yield from self.placeholders[found[0]]
            else:
                yield like._replace(text=found[0])
        if end < len(text):
            yield like._replace(text=unescape(text[end:]))
        found_names = set(PLACEHOLDER.findall(text))
        for name, things in self.placeholders.items():
            if name not in found_names:
                yield from things


class Paragraph:
    """The parts of a paragraph, taken apart."""

    def __init__(self, parts: Sequence[Inline], reader: TextReader) -> None:
        parts = _end_at_notes(parts)
        self._parts: list[Inline | _Stretch] = []
        for separates, group in groupby(parts, key=lambda part: part.separates):
            stretch = list(group)
            says = any(map(str.isalpha, "".join(part.text or "" for part in stretch)))
            if says and not separates:
                self._parts.append(_read(stretch, reader))
            else:
                self._parts += stretch
        self._markups = [part.markup for part in self._parts if isinstance(part, _Stretch)]
        self.pieces = [piece for markup in self._markups for piece in markup.pieces]

    def write(self, translations: Sequence[Alternative]) -> tuple[Alternative, list[Inline]]:
        """Return the translation, and its parts."""
        found = put_together_each(self._markups, translations)
        texts = [each.text for each in found]
        rest = iter(texts)
        written: list[Inline] = []
        for part in self._parts:
            written += part.write(next(rest)) if isinstance(part, _Stretch) else [part]
        return join(found, " ".join(texts)), written


def _end_at_notes(parts: Sequence[Inline]) -> list[Inline]:
    """Let a sentence end before a thing behind its full stop, where marks of footnotes stand."""
    found = list(parts)
    for i in range(1, len(parts) - 1):
        before, after = parts[i - 1].text or "", parts[i + 1].text or ""
        if parts[i].text is None and before.endswith(tuple(SENTENCE_ENDS)) and after[:1].isspace():
            found[i] = parts[i]._replace(separates=True)
    return found


def _read(parts: Sequence[Inline], reader: TextReader) -> _Stretch:
    """Write parts as one text, in which the usual format has no tag."""
    parts = _with_even_gaps(parts)
    usual = _usual_format(parts)
    names = unused_names("".join(part.text or "" for part in parts))
    tags: list[Inline] = []
    placeholders: dict[str, list[Inline]] = {}
    shown = ""
    forms = _forms(parts, usual)
    for form, group in groupby(zip(parts, forms, strict=True), key=lambda pair: pair[1]):
        same = [part for part, _ in group]
        text = ""
        for is_thing, run in groupby(same, key=lambda part: _is_thing(part, usual)):
            if is_thing:
                name = next(names)
                placeholders[name] = list(run)
                text += name
            else:
                text += escape("".join(part.text or "" for part in run), quote=False)
        if form in (None, usual):
            shown += text
        else:
            shown += f'<g id="{len(tags)}">{text}</g>'
            tags.append(next(part for part in same if not _is_thing(part, usual)))
    base = next(part for part in parts if part.text is not None and part.format == usual)
    return _Stretch(tags, placeholders, base, reader.read_markup(shown, _RULES))


def _is_thing(part: Inline, usual: str) -> bool:
    """Tell whether a part is shown as a placeholder."""
    return part.text is None or (part.format != usual and _is_blank(part))


def _is_blank(part: Inline) -> bool:
    return part.is_lined and _BLANK.fullmatch(part.text or "") is not None


def _forms(parts: Sequence[Inline], usual: str) -> Iterator[str | None]:
    """Tell the format of each part; a thing has that of text beside it in the same elements."""
    for i, part in enumerate(parts):
        beside = [*parts[max(0, i - 1) : i], *parts[i + 1 : i + 2]] if part.around else []
        formats = [
            other.format
            for other in beside
            if not _is_thing(other, usual) and other.around == part.around
        ]
        yield next(iter(formats), None) if _is_thing(part, usual) else part.format


def _with_even_gaps(parts: Sequence[Inline]) -> list[Inline]:
    """Give a space the format of its neighbours, if both have the same, as nobody sees its own."""
    found = list(parts)
    for i in range(1, len(parts) - 1):
        before, gap, after = found[i - 1 : i + 2]
        is_gap = gap.text is not None and not gap.text.strip() and not _is_blank(gap)
        if is_gap and None not in (before.text, after.text) and before.format == after.format:
            found[i] = before._replace(text=gap.text)
    return found


def _usual_format(parts: Sequence[Inline]) -> str:
    """Find the format of what is not said to have another, such as a full stop behind a link.

    It is the one with the most letters of those with the fewest elements around: where there is
    text outside of links and emphasis, none of them may grow over it, however long it is.
    """
    said = [part for part in parts if part.text is not None and part.text.strip()]
    depth = min(len(part.around) for part in said)
    letters = Counter[str]()
    for part in said:
        if len(part.around) == depth:
            letters[part.format] += len(part.text or "")
    return letters.most_common(1)[0][0]


def as_xml(elements: Iterable[Element]) -> str:
    """Write elements without what stands behind them."""
    from lxml import etree

    return "".join(etree.tostring(each, encoding="unicode", with_tail=False) for each in elements)
