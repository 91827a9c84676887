"""Paragraphs of ODT, ODP and ODS: text with spans in it, which may be in one another."""

from collections.abc import Iterator, Sequence

from dragoman.documents.paragraph import Element, Inline
from dragoman.documents.spreadsheet import is_named

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_SPANS = (f"{_TEXT}span", f"{_TEXT}a")
_SEPARATORS = (f"{_TEXT}tab", f"{_TEXT}line-break")
_SPACE, _COUNT = f"{_TEXT}s", f"{_TEXT}c"
_CELL, _FORMULA = f"{_TABLE}table-cell", f"{_TABLE}formula"
_TYPE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}value-type"
_UNSEEN = (f"{_TEXT}soft-page-break",)


class OpenDocument:
    """How ODT, ODP and ODS have paragraphs."""

    def __init__(self, references: frozenset[str]) -> None:
        """Leave cells alone to which something refers, as `find_references` finds it."""
        self._references = references

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find all paragraphs and headings, but those of cells that are computed or named."""
        for paragraph in root.iter(*_PARAGRAPHS):
            cell = paragraph.getparent()
            if cell is None or cell.tag != _CELL or self._is_free(cell):
                yield paragraph

    def _is_free(self, cell: Element) -> bool:
        if cell.get(_FORMULA) or cell.get(_TYPE, "string") != "string":
            return False
        text = "\n".join("".join(child.itertext()) for child in cell.iterchildren(*_PARAGRAPHS))
        return not is_named(text, self._references)

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""
        return list(_read(paragraph, ()))

    def write(self, part: Inline, text: str | None) -> Element:
        """Write text, or the thing that a part is, in spans like those around it."""
        written = part.thing if text is None else text
        for span in reversed(part.around):
            around = span.makeelement(span.tag, dict(span.attrib), nsmap=span.nsmap)
            _append(around, written)
            written = around
        return written

    def fill(self, paragraph: Element, content: Sequence[Element]) -> None:
        """Replace the content of a paragraph."""
        paragraph.text = None
        paragraph[:] = []
        for each in content:
            _append(paragraph, each)


def _read(element: Element, around: tuple[Element, ...]) -> Iterator[Inline]:
    form = "".join(f"{span.tag}{sorted(span.attrib.items())}" for span in around)
    if element.text:
        yield Inline(around, element.text, form)
    for child in element:
        if child.tag in _SPANS:
            yield from _read(child, (*around, child))
        elif child.tag == _SPACE:
            yield Inline(around, " " * int(child.get(_COUNT, "1")), form)
        elif child.tag not in _UNSEEN:
            yield Inline(around, thing=child, separates=child.tag in _SEPARATORS)
        if child.tail:
            yield Inline(around, child.tail, form)


def _append(element: Element, content: Element) -> None:
    """Append text or an element, which comes without the text behind it."""
    if not isinstance(content, str):
        content.tail = None
        element.append(content)
    elif len(element):
        element[-1].tail = (element[-1].tail or "") + content
    else:
        element.text = (element.text or "") + content
