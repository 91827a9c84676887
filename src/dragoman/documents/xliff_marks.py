"""What the tags of XLIFF say of a unit: those of the format, and of Trados, memoQ and Phrase."""

import re
from collections.abc import Mapping

from dragoman.markup.tags import Token

_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-]) ([\w:.-]++) \s*+ = \s*+ (?: "([^"]*)" | '([^']*)' )""", re.VERBOSE
)
_NAME = re.compile(r"<[^\s/>]+")

_TRANSLATED = (
    (re.compile(r"""(\smq:status\s*=\s*["'])NotStarted(?=["'])"""), r"\1MachineTranslated"),
    (re.compile(r"""(\sm:trans-origin\s*=\s*["'])(?=["'])"""), r"\1mt"),
)
"""What memoQ and Phrase say of a unit, and instead if a program has translated it."""


def local_name(token: Token) -> str:
    """Return the name of an element without its prefix."""
    return token.name.rpartition(":")[2]


def name_in(tag: str) -> str:
    """Return the name of an element with its prefix, as it was written."""
    return tag.lstrip()[1:].rstrip(">").split(maxsplit=1)[0]


def read_attributes(tag: str) -> Mapping[str, str]:
    """Read the attributes of a tag, by names in small letters."""
    return {name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(tag)}


def keeps_lines(token: Token) -> bool | None:
    """Tell whether line breaks are more than spaces in an element, if it says so."""
    space = read_attributes(token.raw).get("xml:space") if "xml:space" in token.raw else None
    return None if space is None else space == "preserve"


def breaks_line(token: Token) -> bool:
    """Tell whether an element stands for the end of a line, in the words of XLIFF or Angular."""
    said = read_attributes(token.raw)
    is_of_angular = said.get("equiv", "").startswith("LINE_BREAK")
    return is_of_angular or "lb" in (said.get("ctype"), said.get("subtype", "").partition(":")[2])


def is_untranslated(token: Token) -> bool | None:
    """Tell whether what is in an element is to stay, if it says so."""
    if token.marked or is_locked(token):
        return True
    return False if token.asked else None


def is_locked(token: Token) -> bool:
    """Tell whether a program lets nobody write what is in an element, or what it stands for.

    Trados, memoQ and Phrase say so in attributes of this name, each with a prefix of its own.
    """
    if "locked" not in token.raw:
        return False
    said = (
        value.lower()
        for name, value in read_attributes(token.raw).items()
        if name.rpartition(":")[2] == "locked"
    )
    return next(said, "false") not in ("false", "no", "0")


def mark_unit(tag: str) -> str:
    """Say that a program has translated a unit, if memoQ or Phrase says that nobody has."""
    for said, instead in _TRANSLATED:
        tag = said.sub(instead, tag)
    return tag


def mark_segment(tag: str) -> str:
    """Say that a program has translated a segment, if Trados says nothing of it."""
    said = read_attributes(tag)
    if "conf" in said:
        return tag
    mark = ' conf="Draft"' + ("" if "origin" in said else ' origin="mt"')
    return _NAME.sub(lambda name: name[0] + mark, tag, count=1)
