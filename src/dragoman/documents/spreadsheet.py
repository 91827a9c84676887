"""Texts of cells: those of XLSX, and those of any sheet to which a formula or a table refers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from html import unescape

from dragoman.documents.paragraph import (
    XML_SPACE,
    Element,
    Inline,
    in_namespace_of,
    name_of,
)

_IS = r"""=(?:"([^"]*)"|'([^']*)')"""
_FORMULAS = re.compile(
    r"<(?:[\w.-]+:)?(?:f|formula[12]?|definedName)\b[^<>]*>([^<]*)"
    rf"|\btable:(?:formula|condition|expression){_IS}"
)
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')
_NAMES = re.compile(
    rf"<(?:[\w.-]+:)?(?:tableColumn|cacheField)\b[^<>]*?\sname{_IS}"
    rf"|<(?:[\w.-]+:)?(?:filter|customFilter)\b[^<>]*?\sval{_IS}"
    rf"|<table:filter-condition\b[^<>]*?\stable:value{_IS}"
)
_LINE_FEED = re.compile("_x000a_", re.IGNORECASE)
_COMPARES = re.compile(r"\A(?:<>|[<>]=?|=)")
"""With which a criterion may begin, as in `COUNTIF(A1:A9;"<>Yes")`."""

_BETWEEN_CHOICES = re.compile("[,;]")


def find_references(parts: Iterable[str]) -> frozenset[str]:
    """Find the texts that formulas, tables, filters and pivot tables of a document name.

    A cell with such a text has to keep it: `=IF(A1="Yes"; …)` compares, a table calls its columns
    what their headings say, and a cell that offers a choice lists what others hold.

    Args:
        parts: XML of XLSX or ODS.

    Returns:
        The texts, as `is_named` compares them.
    """
    named: set[str] = set()
    for part in parts:
        for found in _FORMULAS.finditer(part):
            for literal in _LITERAL.findall(unescape(found[found.lastindex or 0])):
                text = literal.replace('""', '"')
                named |= {text, _COMPARES.sub("", text), *_BETWEEN_CHOICES.split(text)}
        for found in _NAMES.finditer(part):
            named.add(_LINE_FEED.sub("\n", unescape(found[found.lastindex or 0])))
    return frozenset(map(_normal, named))


_COMPUTED_TEXT = re.compile(r"<(?:\w+:)?c\s(?:[^<>]*\s)?t=[\"']str[\"']")
_BEFORE_COMPUTING = """
fileVersion fileSharing workbookPr workbookProtection bookViews sheets functionGroups
externalReferences definedNames
"""
"""What stands before the settings for computing in a workbook of XLSX."""


def has_computed_text(part: str) -> bool:
    """Tell whether a sheet of XLSX has a formula with a text as its result."""
    return _COMPUTED_TEXT.search(part) is not None


def compute_on_opening(workbook: Element) -> None:
    """Have formulas computed when a workbook of XLSX is opened: their results are old texts."""
    settings = next(workbook.iterchildren("{*}calcPr"), None)
    if settings is None:
        before = _BEFORE_COMPUTING.split()
        place = max((i for i, each in enumerate(workbook, 1) if name_of(each) in before), default=0)
        settings = in_namespace_of(workbook, "calcPr")
        workbook.insert(place, settings)
    settings.set("fullCalcOnLoad", "1")


def is_named(text: str, references: frozenset[str]) -> bool:
    """Tell whether something refers to a text; formulas compare without regard to case."""
    return _normal(text) in references


def _normal(text: str) -> str:
    return text.strip().casefold()


class Spreadsheet:
    """How the parts of XLSX have texts: in one table for all sheets, or in the cells."""

    def __init__(self, references: frozenset[str]) -> None:
        """Leave alone what something refers to, as `find_references` finds it."""
        self._references = references

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find all texts that nothing refers to."""
        for element in root.iter():
            if name_of(element) in ("si", "is", "text"):  # the last one is a note on a cell
                text = "".join(part.text or "" for part in self.read(element))
                if not is_named(text, self._references):
                    yield element

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a text apart. How it is pronounced is left out, as that of a translation differs."""
        parts: list[Inline] = []
        for child in paragraph:
            if name_of(child) == "t":
                parts += _lines(child.text or "", (), "")
            elif name_of(child) == "r":
                text = "".join(each.text or "" for each in child.iterchildren("{*}t"))
                parts += _lines(text, (child,), _format(child))
        return parts

    def fill(self, paragraph: Element, content: Sequence[Inline]) -> None:
        """Replace the content: by a text, or by runs; there is nothing else in a cell."""
        if any(part.around for part in content):
            paragraph[:] = [_run(paragraph, part) for part in content]
        else:
            paragraph[:] = [_text(paragraph, "".join(part.text or "" for part in content))]


def _run(paragraph: Element, part: Inline) -> Element:
    """Write text in a run like that which it was in, if it was in one."""
    form = [deepcopy(each) for run in part.around for each in run.iterchildren("{*}rPr")]
    run = in_namespace_of(paragraph, "r")
    run.extend([*form, _text(paragraph, part.text or "")])
    return run


def _lines(text: str, around: tuple[Element, ...], form: str) -> Iterator[Inline]:
    """Separate the lines in a cell, each of which is a text of its own."""
    for part in re.split("(\n)", text):
        if part:
            yield Inline(around, part, form, separates=part == "\n")


def _format(run: Element) -> str:
    from lxml import etree

    properties = run.iterchildren("{*}rPr")
    return "".join(etree.tostring(each, encoding="unicode", with_tail=False) for each in properties)


def _text(like: Element, text: str) -> Element:
    element = in_namespace_of(like, "t")
    element.text = text
    element.set(XML_SPACE, "preserve")
    return element
