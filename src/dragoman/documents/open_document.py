"""Paragraphs of ODT, ODP and ODS: text with spans in it, which may be in one another."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from dragoman.documents.formulas import is_named
from dragoman.documents.paragraph import Around, Element, Inline, sort_marks

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_LIBRE_OFFICE = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h", f"{_TEXT}meta", f"{_LIBRE_OFFICE}content-control")
"""What holds text; the last two are within a sentence of others, and have a text of their own."""

_SPANS = (f"{_TEXT}span", f"{_TEXT}a")
_SEPARATORS = (f"{_TEXT}tab", f"{_TEXT}line-break")
_SPACE, _COUNT = f"{_TEXT}s", f"{_TEXT}c"
_WHITE_SPACE, _SPACES = re.compile(r"[ \t\r\n]+"), re.compile("( {2,})")
_NUMBER = re.compile(r"\d{1,4}")
_CELL, _FORMULA = f"{_TABLE}table-cell", f"{_TABLE}formula"
_TYPE, _VALUE = f"{OFFICE}value-type", f"{OFFICE}string-value"
_RUBY = (f"{_TEXT}ruby", f"{_TEXT}ruby-base")
"""Around characters beside which stands how they are read."""

_UNSEEN = (f"{_TEXT}soft-page-break", f"{_TEXT}ruby-text")
_DELETED = f"{_TEXT}tracked-changes"

_CHANGES = (f"{_TEXT}change-start", f"{_TEXT}change-end")
_STARTS = (
    *("bookmark", "bookmark-start", "reference-mark", "mark-start", "annotation"),
    "list-item",  # what a content control offers to choose
)
_ENDS = ("bookmark-end", "index-mark", "toc-mark", "mark-end", "annotation-end")
"""How the names end of what marks a place or a stretch, or else is in no sentence."""

_DRAWING = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_ANCHOR, _IN_LINE = f"{_TEXT}anchor-type", (None, "as-char")
_DRAWN = ("text-underline-style", "text-line-through-style", "background-color")
_UNSEEN_PROPERTIES = ("rsid", "paragraph-rsid", "language", "country", "script", "rfc-language-tag")
"""What a program notes about text, with endings for languages of other scripts."""


class OpenDocument:
    """How ODT, ODP and ODS have paragraphs."""

    def __init__(self, root: Element, references: frozenset[str]) -> None:
        """Leave cells alone to which something refers, as `find_references` finds it."""
        self._references = references
        self._unseen = frozenset(
            str(style.get(f"{STYLE}name"))
            for style in root.iter(f"{STYLE}style")
            if _changes_nothing(style)
        )
        self._unlined = frozenset(
            style.get(f"{STYLE}name")
            for style in root.iter(f"{STYLE}style")
            if _shows_no_spaces(style)
        ) | {None}

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find all paragraphs and headings that are not deleted, computed or named."""
        for paragraph in root.iter(*_PARAGRAPHS):
            cell = paragraph.getparent()
            is_free = cell is None or cell.tag != _CELL or self._is_free(cell)
            if is_free and next(paragraph.iterancestors(_DELETED), None) is None:
                yield paragraph

    def _is_free(self, cell: Element) -> bool:
        if cell.get(_FORMULA) or cell.get(_TYPE, "string") != "string":
            return False
        text = "\n".join("".join(child.itertext()) for child in cell.iterchildren(*_PARAGRAPHS))
        return not is_named(text, self._references)

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""
        starts, others, ends = sort_marks(self._read(paragraph, ()), _STARTS, _ENDS, _floats)
        return [*starts, *_joined(others), *ends]

    def _read(self, element: Element, around: tuple[Element, ...]) -> Iterator[Inline]:
        form = "".join(f"{span.tag}{sorted(span.attrib.items())}" for span in around)
        is_lined = any(span.get(f"{_TEXT}style-name") not in self._unlined for span in around)
        if element.text:
            yield Inline(around, _WHITE_SPACE.sub(" ", element.text), form, is_lined=is_lined)
        for child in element:
            if child.tag in (*_SPANS, *_RUBY):
                is_left_out = child.tag in _RUBY or child.get(f"{_TEXT}style-name") in self._unseen
                yield from self._read(child, around if is_left_out else (*around, child))
            elif child.tag == _SPACE and _NUMBER.fullmatch(child.get(_COUNT, "1")):
                spaces = " " * int(child.get(_COUNT, "1"))
                yield Inline(around, spaces, form, is_lined=is_lined)
            elif child.tag not in _UNSEEN:
                yield Inline(around, thing=child, separates=child.tag in (*_SEPARATORS, *_CHANGES))
            if child.tail:
                yield Inline(around, _WHITE_SPACE.sub(" ", child.tail), form, is_lined=is_lined)

    def fill(self, paragraph: Element, content: Sequence[Inline]) -> None:
        """Replace the content of a paragraph; what its cell says otherwise is its old text."""
        paragraph.text = None
        paragraph[:] = []
        around = Around(paragraph)
        for part in content:
            element = around.innermost(part.around)
            for each in [part.thing] if part.text is None else _with_spaces(element, part.text):
                _append(element, each)
        cell = paragraph.getparent()
        if cell is not None and cell.tag == _CELL:
            cell.attrib.pop(_VALUE, None)


def _floats(thing: Element) -> bool:
    """Tell whether a picture or a box stands beside the text, wherever in it its anchor is."""
    return thing.tag.startswith(_DRAWING) and thing.get(_ANCHOR) not in _IN_LINE


def _joined(parts: Sequence[Inline]) -> Iterator[Inline]:
    """Join text that was parted only because several spaces are an element."""
    for like, group in groupby(parts, key=lambda part: part._replace(text=part.text and "")):
        said = [part.text for part in group if part.text is not None]
        yield like._replace(text="".join(said)) if said else like


def _shows_no_spaces(style: Element) -> bool:
    """Tell whether a style draws no line or colour where nothing else is; others may do so."""
    return style.get(f"{STYLE}parent-style-name") is None and not any(
        name.endswith(_DRAWN) and value not in ("none", "transparent")
        for child in style
        for name, value in child.attrib.items()
    )


def _changes_nothing(style: Element) -> bool:
    """Tell whether a style of text only notes when it was typed, or in which language."""
    names = [name.rpartition("}")[2] for child in style for name in child.attrib]
    return (
        style.get(f"{STYLE}family") == "text"
        and style.get(f"{STYLE}parent-style-name") is None
        and all(len(child) == 0 for child in style)
        and all(
            name.removesuffix("-asian").removesuffix("-complex") in _UNSEEN_PROPERTIES
            for name in names
        )
    )


def _with_spaces(like: Element, text: str) -> Iterator[Element]:
    """Yield text, with elements for several spaces in a row: as text they would be one."""
    for part in _SPACES.split(text):
        is_text = not part.startswith("  ")
        yield part if is_text else like.makeelement(_SPACE, {_COUNT: str(len(part))})


def _append(element: Element, content: Element) -> None:
    """Append text or an element, which comes without the text behind it."""
    if not isinstance(content, str):
        content.tail = None
        element.append(content)
    elif len(element):
        element[-1].tail = (element[-1].tail or "") + content
    else:
        element.text = (element.text or "") + content
