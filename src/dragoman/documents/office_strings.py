"""What an office document says outside paragraphs: to screen readers, in charts, as its title."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.documents.paragraph import Element, name_of

_DESCRIBED = ("docPr", "cNvPr")
_DESCRIPTIONS = ("descr", "title")
"""What describes a picture or a drawing of Office Open XML, and its attributes for that."""

_CHOICE, _SHOWN = "listItem", "displayText"
"""What a content control offers to choose."""

_DESCRIPTIONS_OF_TABLES = ("tblCaption", "tblDescription")

_OF_OPEN_DOCUMENT = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_OF_DOCUMENT = "{http://purl.org/dc/elements/1.1/}"
_SAID = (
    *(f"{_OF_OPEN_DOCUMENT}{name}" for name in ("title", "desc")),
    *(f"{_OF_DOCUMENT}{name}" for name in ("title", "subject", "description")),
)
_IN_CHART = ("strCache", "strLit", "lvl")
"""What holds texts of a chart: names of series and categories, as they were in cells, or are."""

_FILE_NAME = re.compile(r"\s*[^\s/]+\.\w{2,4}\s*")
"""With which programs describe a picture that nobody has described."""


class StringPlace(NamedTuple):
    """Where a text stands: in an attribute, or else within its element."""

    element: Element
    attribute: str | None = None

    @property
    def text(self) -> str:
        """What it says."""
        if self.attribute is None:
            return self.element.text or ""
        return self.element.get(self.attribute, "")

    def write(self, text: str) -> None:
        """Say something else in its place."""
        if self.attribute is None:
            self.element.text = text
        else:
            self.element.set(self.attribute, text)


def find_strings(root: Element) -> Iterator[StringPlace]:
    """Find texts outside paragraphs, in their order."""
    return (place for place in _places(root) if _speaks(place.text))


def _speaks(text: str) -> bool:
    return any(map(str.isalpha, text)) and _FILE_NAME.fullmatch(text) is None


def _places(root: Element) -> Iterator[StringPlace]:
    for element in root.iter():
        name = name_of(element)
        if name in _DESCRIBED:
            yield from (StringPlace(element, attribute) for attribute in _DESCRIPTIONS)
        elif name in _DESCRIPTIONS_OF_TABLES:
            yield StringPlace(element, element.tag.replace(name, "val"))
        elif name == _CHOICE:
            yield StringPlace(element, element.tag.replace(_CHOICE, _SHOWN))
        elif element.tag in _SAID or _is_comment(element) or _is_of_chart(element):
            yield StringPlace(element)


def _is_comment(element: Element) -> bool:
    """Tell whether an element is what somebody says of a slide."""
    return name_of(element) == "text" and "presentationml" in element.tag


def _is_of_chart(element: Element) -> bool:
    """Tell whether an element is the name of a series or a category in a chart."""
    if name_of(element) != "v" or "chart" not in element.tag:
        return False
    parent = element.getparent()
    if name_of(parent) == "pt":
        return name_of(parent.getparent()) in _IN_CHART
    return name_of(parent) == "tx"
