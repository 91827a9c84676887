"""A paragraph of an office document: text in several formats, with other things between.

What is translated is each stretch without a tabulator or a line break, with tags where the format
changes and with placeholders for pictures, notes, fields and the like.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby, islice
from typing import Any, NamedTuple

from dragoman.documents.placeholders import PLACEHOLDER, unused_names
from dragoman.markup.document import Markup, Rules
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

Element = Any
"""An element of lxml, which has no types."""

XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
"""The attribute by which white space at both ends stays."""

_RULES = Rules(untranslated=frozenset(), inline=frozenset({"g"}), is_xml=True)
_MARK = re.compile(rf'<g id="(?P<tag>\d+)">|</g>|(?P<placeholder>{PLACEHOLDER.pattern})')
_SENTENCE_ENDS = (".", "!", "?", "…")


def name_of(element: Element) -> str:
    """Return the name of an element without its namespace; a comment has none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


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


Write = Callable[[Inline, str | None], Element]
"""(part, text) -> text in the format of a part, or if there is none, the thing that the part is."""


@dataclass(frozen=True)
class _Stretch:
    """Parts of a paragraph that are translated together."""

    tags: dict[str, Inline]
    """What the text within each tag has the format of."""

    placeholders: dict[str, list[Inline]]
    base: Inline
    """What the text outside tags has the format of."""

    markup: Markup

    def write(self, text: str, write: Write) -> Iterator[Element]:
        """Yield what a translation consists of."""
        end, like = 0, self.base
        for found in _MARK.finditer(text):
            if found.start() > end:
                yield write(like, unescape(text[end : found.start()]))
            end = found.end()
            if found["placeholder"] is None:
                like = self.tags[found["tag"]] if found["tag"] else self.base
            elif found[0] in self.placeholders:
                yield from (write(thing, None) for thing in self.placeholders[found[0]])
            else:
                yield write(like, found[0])
        if end < len(text):
            yield write(like, unescape(text[end:]))
        found_names = set(PLACEHOLDER.findall(text))
        for name, things in self.placeholders.items():
            if name not in found_names:
                yield from (write(thing, None) for thing in things)


class Paragraph:
    """The parts of a paragraph, taken apart."""

    def __init__(self, parts: Sequence[Inline], reader: TextReader) -> None:
        parts = _end_at_notes(parts)
        self._parts: list[Inline | _Stretch] = []
        for _, group in groupby(parts, key=lambda part: part.separates):
            stretch = list(group)
            if any(map(_speaks, stretch)):
                self._parts.append(_read(stretch, reader))
            else:
                self._parts += stretch
        stretches = [part for part in self._parts if isinstance(part, _Stretch)]
        self.pieces = [piece for stretch in stretches for piece in stretch.markup.pieces]

    def write(
        self, translations: Sequence[Alternative], write: Write
    ) -> tuple[Alternative, list[Element]]:
        """Return the translation, and what it consists of."""
        rest = iter(translations)
        found: list[Alternative] = []
        written: list[Element] = []
        for part in self._parts:
            if isinstance(part, _Stretch):
                pieces = list(islice(rest, len(part.markup.pieces)))
                found.append(part.markup.put_together(pieces))
                written += part.write(found[-1].text, write)
            else:
                written.append(write(part, part.text))
        return join(found, " ".join(each.text for each in found)), written


def _end_at_notes(parts: Sequence[Inline]) -> list[Inline]:
    """Let a sentence end before a thing behind its full stop, where marks of footnotes stand."""
    found = list(parts)
    for i in range(1, len(parts) - 1):
        before, after = parts[i - 1].text or "", parts[i + 1].text or ""
        if parts[i].text is None and before.endswith(_SENTENCE_ENDS) and after[:1].isspace():
            found[i] = parts[i]._replace(separates=True)
    return found


def _speaks(part: Inline) -> bool:
    return not part.separates and part.text is not None and any(map(str.isalpha, part.text))


def _read(parts: Sequence[Inline], reader: TextReader) -> _Stretch:
    """Write parts as one text, in which the most frequent format has no tag."""
    letters = Counter[str]()
    for part in parts:
        letters[part.format] += len(part.text or "")
    usual = letters.most_common(1)[0][0]
    names = unused_names("".join(part.text or "" for part in parts))
    tags: dict[str, Inline] = {}
    placeholders: dict[str, list[Inline]] = {}
    shown = ""
    for form, group in groupby(parts, key=lambda part: None if part.text is None else part.format):
        same = list(group)
        text = escape("".join(part.text or "" for part in same), quote=False)
        if form is None:
            name = next(names)
            placeholders[name] = same
            shown += name
        elif form == usual:
            shown += text
        else:
            tags[str(len(tags))] = same[0]
            shown += f'<g id="{len(tags) - 1}">{text}</g>'
    base = next(part for part in parts if part.text is not None and part.format == usual)
    return _Stretch(tags, placeholders, base, reader.read_markup(shown, _RULES))
