"""Texts of XLSX: in one table for all sheets, or in the cells, and notes on cells."""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

from dragoman.documents.formulas import is_named
from dragoman.documents.paragraph import (
    ESCAPED_CONTROL,
    XML_SPACE,
    Element,
    Inline,
    as_xml,
    in_namespace_of,
    name_of,
)

_BREAK = re.compile(rf"((?:\n|{ESCAPED_CONTROL})+)")
"""What ends a line: a line feed, or the carriage return before it."""


class Spreadsheet:
    """How the parts of XLSX have texts: in one table for all sheets, or in the cells."""

    def __init__(self, references: frozenset[str]) -> None:
        """Leave alone what something refers to, as `find_references` finds it."""
        self._references = references

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find all texts that nothing refers to."""
        for element in root.iter():
            if name_of(element) in ("si", "is", "text") or _is_plain(element):  # text: of a note
                text = "".join(part.text or "" for part in self.read(element))
                if not is_named(text, self._references):
                    yield element

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a text apart. How it is pronounced is left out, as that of a translation differs."""
        parts = list(_lines(paragraph.text or "", (), "")) if _is_plain(paragraph) else []
        for child in paragraph:
            if name_of(child) == "t":
                parts += _lines(child.text or "", (), "")
            elif name_of(child) == "r":
                text = "".join(each.text or "" for each in child.iterchildren("{*}t"))
                parts += _lines(text, (child,), _format(child))
        return parts

    def fill(self, paragraph: Element, content: Sequence[Inline]) -> None:
        """Replace the content: by a text, or by runs; there is nothing else in a cell."""
        text = "".join(part.text or "" for part in content)
        if any(part.around for part in content):
            paragraph[:] = [_run(paragraph, part) for part in content]
        elif _is_plain(paragraph):
            paragraph.text = text
        else:
            paragraph[:] = [_text(paragraph, text)]


def _is_plain(element: Element) -> bool:
    """Tell whether an element is the text of a cell where the result of a formula would be.

    Programs that write sheets fast, such as SheetJS, put it there, and no formula before it.
    """
    if name_of(element) != "v":
        return False
    cell = element.getparent()
    return cell.get("t") == "str" and cell.find("{*}f") is None


def _run(paragraph: Element, part: Inline) -> Element:
    """Write text in a run like that which it was in, if it was in one."""
    form = [deepcopy(each) for run in part.around for each in run.iterchildren("{*}rPr")]
    run = in_namespace_of(paragraph, "r")
    run.extend([*form, _text(paragraph, part.text or "")])
    return run


def _lines(text: str, around: tuple[Element, ...], form: str) -> Iterator[Inline]:
    """Separate the lines in a cell, each of which is a text of its own."""
    for i, part in enumerate(_BREAK.split(text)):
        if part:
            yield Inline(around, part, form, separates=i % 2 == 1)


def _format(run: Element) -> str:
    return as_xml(run.iterchildren("{*}rPr"))


def _text(like: Element, text: str) -> Element:
    element = in_namespace_of(like, "t")
    element.text = text
    element.set(XML_SPACE, "preserve")
    return element
