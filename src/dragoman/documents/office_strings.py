"""What an office document says outside paragraphs: to screen readers, in charts, as its title."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.documents.paragraph import Element, name_of
from dragoman.words import shorten

_ATTRIBUTES = {
    "docPr": ("descr", "title"),  # a picture or a drawing
    "cNvPr": ("descr", "title"),
    "shape": ("alt",),  # as older versions of Word draw it
    "textpath": ("string",),  # a watermark
    "hlinkClick": ("tooltip",),
    "hyperlink": ("tooltip",),
    "dataValidation": ("promptTitle", "prompt", "errorTitle", "error"),  # of a cell of a sheet
    "listItem": ("displayText",),  # what a content control offers to choose
    "lvlText": ("val",),  # beside the number of a heading or an item, as in "Chapter %1"
    "outline-level-style": ("num-prefix", "num-suffix", "num-list-format"),  # as "Chapter %1%"
    "list-level-style-number": ("num-prefix", "num-suffix", "num-list-format"),
    "tblCaption": ("val",),
    "tblDescription": ("val",),
}
"""What people read in attributes, or hear of pictures and tables."""

_OPEN_DOCUMENT = "{urn:oasis:names:tc:opendocument:xmlns:"
_SAID = (
    *(f"{_OPEN_DOCUMENT}svg-compatible:1.0}}{name}" for name in ("title", "desc")),
    *(f"{_OPEN_DOCUMENT}presentation:1.0}}{name}-decl" for name in ("header", "footer")),
    f"{_OPEN_DOCUMENT}text:1.0}}index-title-template",
    *(
        f"{{http://purl.org/dc/elements/1.1/}}{name}"
        for name in ("title", "subject", "description")
    ),
)
"""Elements that hold a text: descriptions, what stands on each slide, titles."""

_IN_CHART = ("strCache", "strLit", "lvl", "dlblRangeCache")
"""What holds texts of a chart: names of series and categories and labels, as they were in cells, or
are."""

_FILE_NAME = re.compile(r"\s*[^\s/]+\.\w{2,4}\s*")
"""With which programs describe a picture that nobody has described."""


_BREAK = re.compile(r"(?<!_x005f)(?:(?:_x000d_)?(?:_x000a_|\n)|_x000d_)", re.IGNORECASE)
"""The end of a line; in attributes and properties, Office writes such characters as numbers."""

_LONGEST_TIP, _LONGEST_TITLE = 255, 32
"""Letters that a tip in a sheet may have, and the title of one: Excel takes more for damage."""


class StringPlace(NamedTuple):
    """Where a text stands: in an attribute, or else within its element."""

    element: Element
    attribute: str | None = None

    @property
    def text(self) -> str:
        """What it says."""
        said = self.element.text if self.attribute is None else self.element.get(self.attribute)
        return _BREAK.sub("\n", said or "")

    def write(self, text: str) -> bool:
        """Say something else in its place, and tell whether there was room for all of it."""
        if self.attribute is None:
            self.element.text = text
            for mentions in list(self.element.itersiblings("{*}mentions")):
                mentions.getparent().remove(mentions)  # these count the letters of the old text
            return True
        longest = _LONGEST_TITLE if self.attribute.endswith("Title") else _LONGEST_TIP
        has_room = len(text) <= longest or "spreadsheetml" not in self.element.tag
        self.element.set(self.attribute, text if has_room else shorten(text, longest))
        return has_room


def find_strings(root: Element) -> Iterator[StringPlace]:
    """Find texts outside paragraphs, in their order."""
    return (place for place in _places(root) if _speaks(place.text))


def _speaks(text: str) -> bool:
    return any(map(str.isalpha, text)) and _FILE_NAME.fullmatch(text) is None


def _places(root: Element) -> Iterator[StringPlace]:
    names = ("text", "v", "pt", *_ATTRIBUTES)
    for element in root.iter(*_SAID, *(f"{{*}}{name}" for name in names)):
        if element.tag in _SAID or _is_comment(element) or _is_of_chart(element):
            yield StringPlace(element)
        spoken = () if _is_bullet(element) else _ATTRIBUTES.get(name_of(element), ())
        for attribute in element.attrib if spoken else ():
            if attribute.rpartition("}")[2] in spoken:
                yield StringPlace(element, attribute)


def _is_bullet(element: Element) -> bool:
    """Tell whether an element is the sign of a list without numbers, which may be an "o"."""
    if name_of(element) != "lvlText":
        return False
    formats = element.itersiblings("{*}numFmt", preceding=True)
    return any("bullet" in each.attrib.values() for each in formats)


def _is_comment(element: Element) -> bool:
    """Tell whether an element is what somebody says of a slide, or to others of a cell."""
    kinds = ("presentationml", "threadedcomments")
    return name_of(element) == "text" and any(kind in element.tag for kind in kinds)


def _is_of_chart(element: Element) -> bool:
    """Tell whether an element is the name of a series or a category in a chart, or a label."""
    if name_of(element) not in ("v", "pt") or "chart" not in element.tag:
        return False
    parent, around, *_ = (*map(name_of, element.iterancestors()), "", "")
    if name_of(element) == "pt":  # in the kinds of Office 2016, such as waterfalls
        return around == "strDim" and not _is_of_ids(element)
    return around in _IN_CHART if parent == "pt" else parent in ("tx", "txData")


def _is_of_ids(point: Element) -> bool:
    """Tell whether a point names a place of a map as the service does that draws it."""
    return point.getparent().getparent().get("type") == "entityId"
