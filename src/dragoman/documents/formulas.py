"""Formulas, tables and filters of sheets: which texts they name, and which they compute."""

import re
from collections.abc import Iterable
from html import unescape

from dragoman.documents.paragraph import Element, in_namespace_of, name_of

_IS = r"""=(?:"([^"]*)"|'([^']*)')"""
_FORMULAS = re.compile(
    r"<(?:[\w.-]+:)?(?:f|formula[12]?|definedName)\b[^<>]*>([^<]*)"
    rf"|\b(?:table:(?:formula|condition|expression)|style:condition|calcext:value){_IS}"
)
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')
_NAMES = re.compile(
    rf"<(?:[\w.-]+:)?(?:tableColumn|cacheField)\b[^<>]*?\sname{_IS}"
    rf"|<(?:[\w.-]+:)?(?:filter|customFilter)\b[^<>]*?\sval{_IS}"
    rf"|<table:filter-(?:condition|set-item)\b[^<>]*?\stable:value{_IS}"
    rf"|<table:data-pilot-field\b[^<>]*?\stable:source-field-name{_IS}"
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


_COMPUTED_TEXT = re.compile(
    r"<(?:[\w.-]+:)?c(?=[^<>]*\st=[\"']str[\"'])[^<>]*+>\s*<(?:[\w.-]+:)?f\b"
)
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
