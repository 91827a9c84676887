"""Pages of HTML: their text, and what their attributes say to people and of the page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from typing import NamedTuple

from dragoman.documents.document import OTHER_ENCODING, Edit, Rewritten, edit, unused_mark
from dragoman.documents.languages import direction_of, is_of_source, turns
from dragoman.languages.codes import language_tag
from dragoman.languages.scripts import is_right_to_left
from dragoman.markup.elements import read_document
from dragoman.markup.passage import Passage, put_together_each
from dragoman.markup.rules import Rules
from dragoman.markup.tags import Token, as_shown
from dragoman.markup.templates import keep_templates
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

_RULES = Rules()

_SAID: Mapping[str, tuple[str, ...] | None] = {
    "title": None,
    "alt": ("area", "img", "input"),
    "abbr": ("th",),
    "label": ("optgroup", "option", "track"),
    "placeholder": ("input", "textarea"),
    "aria-label": None,
    "aria-description": None,
    "aria-placeholder": None,
    "aria-roledescription": None,
    "aria-valuetext": None,
}
"""The attributes that people read or hear, and the elements that have them, if not all ("The
translate attribute" in the HTML standard; "Translatable States and Properties" in WAI-ARIA)."""

_SAID_OF_PAGE = """
description keywords dc.title dc.description og:title og:description og:image:alt twitter:title
twitter:description twitter:image:alt
"""
"""Names and properties of `meta` whose content is said to people."""

_SAYS_WITHIN_TAG = ("iframe", "svg", "textarea")
"""Elements whose content stays, while their attributes are read by people, or to them."""

_TAG_NAME = re.compile(r"<[^\s/>]+")
_ATTRIBUTE = re.compile(
    r"""[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+))?"""
)
_CODE = re.compile(r"[\w.:-]*")
"""The code of a language, or the name of an encoding; a template may compute it."""

_DIRECTION = re.compile(r"(?<![\w-])(direction\s*:\s*)(rtl|ltr)\b", re.IGNORECASE)
_ALIGNMENT = r"(?<![\w-])(text-align\s*:\s*){}\b"
_BEGINNINGS = {"ltr": "left", "rtl": "right"}
"""The side where lines begin."""

_CHARSET = re.compile(r"charset\s*=\s*(?!utf-8\b)[\w.:-]+", re.IGNORECASE)


class _Attribute(NamedTuple):
    """An attribute with a value, and where that stands in its tag, quotation marks included."""

    name: str
    raw: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """What it says."""
        return unescape(self.raw[1:-1] if self.raw[0] in "\"'" else self.raw)

    def write(self, value: str) -> str:
        """Write another value, in the same quotation marks if there are any."""
        if value == self.value:
            return self.raw
        quote = "'" if self.raw[0] == "'" else '"'

        def write(text: str) -> str:
            return escape(text, quote=False).replace(quote, f"&#{ord(quote)};")

        return quote + keep_templates(self.raw, unescape, write)(value) + quote


class Page:
    """A page: its text, and the attributes that are said to people, each on its own.

    A tag goes where the translation of its sentence wants it, and what its attributes say goes with
    it: until all is translated, a mark stands in their place.
    """

    def __init__(self, text: str, reader: TextReader) -> None:
        """Take a page apart; errors in it stay."""
        self._mark = unused_mark(text)
        edits: list[Edit] = []
        said: list[Passage] = []
        for each in _find_edits(text, reader):
            shown = each.replacement
            if not isinstance(shown, str):
                said.append(shown)
                shown = f"{self._mark}{len(said) - 1};"
            edits.append(each._replace(replacement=shown))
        marked = edit(text, edits).put_together([]).text
        self._passages = [reader.read_markup(marked, _RULES), *said]
        self.pieces = [piece for passage in self._passages for piece in passage.pieces]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translated page."""
        page, *said = put_together_each(self._passages, translations)
        text = re.sub(f"{self._mark}(\\d+);", lambda mark: said[int(mark[1])].text, page.text)
        return join([page, *said], text)


def _find_edits(page: str, reader: TextReader) -> Iterator[Edit]:
    """Find what is translated or changed within tags, in its order."""
    place = 0
    for token in read_document(page, _RULES):
        if token.kind in ("open", "void") or token.name in _SAYS_WITHIN_TAG:
            for each in _edit_tag(token, reader):
                yield each._replace(start=place + each.start, end=place + each.end)
        elif found := OTHER_ENCODING.match(token.raw):
            yield Edit(place + found.start(1), place + found.end(1), "UTF-8")
        place += len(token.raw)


def _edit_tag(token: Token, reader: TextReader) -> Iterator[Edit]:
    """Find what is translated or changed in a tag."""
    attributes = list(_read_attributes(token.raw))
    values = {each.name: each.value for each in attributes}
    if token.name == "html" and "dir" not in values and turns(reader):
        place = len("<html")
        yield Edit(place, place, f' dir="{direction_of(reader.target)}"')
    for each in attributes:
        replacement: str | Passage | None = None
        if _is_said(each, token.name, values):
            replacement = Rewritten(reader.read_string(each.value), each.write)
        elif each.name in ("lang", "xml:lang"):
            replacement = each.write(_translated_language(each.value, token.name, reader))
        elif turned := _turn(each, token.name, values, reader):
            replacement = each.write(turned)
        elif token.name == "meta" and each.name in ("charset", "content"):
            replacement = each.write(_in_utf_8(each, values))
        if replacement is not None:
            yield Edit(each.start, each.end, replacement)


def _read_attributes(tag: str) -> Iterator[_Attribute]:
    """Read the attributes of a tag that have a value."""
    name = _TAG_NAME.match(tag)
    end = name.end() if name else len(tag)
    shown = as_shown(tag, is_xml=False)
    while found := _ATTRIBUTE.match(shown, end):
        end = found.end()
        if found[2]:
            yield _Attribute(found[1].lower(), tag[slice(*found.span(2))], *found.span(2))


def _is_said(attribute: _Attribute, element: str, values: Mapping[str, str]) -> bool:
    """Tell whether an attribute is read by people, or to them."""
    name, value = attribute.name, attribute.value
    stays = values.get("translate") == "no" or "notranslate" in values.get("class", "").split()
    # Without quotation marks a template in it may go on after a space, where the value has ended.
    is_cut = "{" in value and attribute.raw[0] not in "\"'"
    if stays or is_cut or "<" in value or not any(map(str.isalpha, value)):
        return False
    if (element, name) == ("meta", "content"):
        return values.get("name", values.get("property", "")).lower() in _SAID_OF_PAGE.split()
    if (element, name) == ("input", "value"):
        return values.get("type", "").lower() in ("button", "reset", "submit")
    return name in _SAID and element in (_SAID[name] or (element,))


def _translated_language(code: str, element: str, reader: TextReader) -> str:
    """Return the language of an element of the translated page; of a page it is the target."""
    changes = _CODE.fullmatch(code) if element == "html" else is_of_source(code, reader)
    return language_tag(reader.target) if changes else code


def _is_turned(direction: str, element: str, values: Mapping[str, str], reader: TextReader) -> bool:
    """Tell whether an element turns with its text: the page, or what names the language, too.

    Elsewhere "ltr" may be the direction of something that stays, such as code; nobody writes "rtl"
    of other than text.
    """
    language = values.get("lang", values.get("xml:lang", ""))
    is_text = is_of_source(language, reader) or (not language and is_right_to_left(reader.source))
    runs_alike = direction.lower() == direction_of(reader.source)
    return turns(reader) and (element in ("html", "body") or (is_text and runs_alike))


def _turn(
    attribute: _Attribute, element: str, values: Mapping[str, str], reader: TextReader
) -> str | None:
    """Turn a direction, which word processors write as a style, too; nothing if it stays."""
    said = _DIRECTION.search(attribute.value) if attribute.name == "style" else None
    if said is None and attribute.name != "dir":
        return None
    if not _is_turned(said[2] if said else attribute.value, element, values, reader):
        return None
    before, after = map(direction_of, (reader.source, reader.target))
    if said is None:
        return after
    style = _DIRECTION.sub(rf"\g<1>{after}", attribute.value)
    side = re.compile(_ALIGNMENT.format(_BEGINNINGS[before]), re.IGNORECASE)
    return side.sub(rf"\g<1>{_BEGINNINGS[after]}", style)


def _in_utf_8(attribute: _Attribute, values: Mapping[str, str]) -> str:
    """Return what an attribute says of the encoding of the page, which is written in UTF-8."""
    if attribute.name == "charset" and attribute.value.lower() != "utf-8":
        return "utf-8" if _CODE.fullmatch(attribute.value) else attribute.value
    if values.get("http-equiv", "").lower() == "content-type":
        return _CHARSET.sub("charset=utf-8", attribute.value)
    return attribute.value
