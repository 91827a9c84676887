"""Paragraphs of DOCX and PPTX, and of drawings in XLSX: runs of text, each with its format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from dragoman.documents.paragraph import (
    ESCAPED_CONTROL,
    XML_SPACE,
    Around,
    Element,
    Inline,
    as_xml,
    in_namespace_of,
    name_of,
    sort_marks,
    without_content,
)

_WRAPPERS = ("hyperlink", "ins", "moveTo")
"""What may stand around runs, within a sentence."""

_LEFT_OUT = ("smartTag", "dir", "bdo")
"""What may stand around them, too, and says of words that a translation does not have that they are
a name or a number, or in which direction they run."""

_FIELD, _INSTRUCTION = "fldSimple", "instr"
_LINK = "HYPERLINK"
"""The field that is a link: it computes nothing."""

_TYPED = "FORMTEXT"
"""The field into which people type."""

_INVISIBLE = ("XE", "TC", "TA", "RD")
"""Fields that mark a place for an index or a table, and show nothing there."""

_OTHER_HOLDERS = (*_WRAPPERS, *_LEFT_OUT, "del", "moveFrom", _FIELD, "rt", "rubyBase")
"""What holds runs that are part of a sentence around it, or are no text to translate."""

_SEPARATORS = ("br", "cr", "tab", "ptab")
_BREAK = re.compile(rf"((?:\t|{ESCAPED_CONTROL})+)")
"""A tabulator or a line break, `_x000B_`, as PowerPoint writes them in text."""

_STARTS = ("Start", "footnoteRef", "endnoteRef", "annotationRef")
_ENDS = ("End", "commentReference", "del", "moveFrom")
"""How the names end of what is in no sentence: marks of a stretch, such as a bookmark, or of a note
that begins, and text that is deleted."""

_MASTERS = ("sldMaster", "sldLayout", "notesMaster")
"""Parts whose shapes are shown on slides, but for placeholders: these say what slides may say."""

_UNSEEN = ("proofErr", "lastRenderedPageBreak", "softHyphen", "smartTagPr")
"""What a program noted about an earlier state of the text; it is left out."""

_LINED = re.compile(
    r'<(?:\w+:)?(?:u|strike|dstrike|highlight|bdr)\b(?![^<>]*val="(?:none|nil|0|false|off)")'
    r'|<(?:\w+:)?shd\b(?!(?=[^<>]*val="(?:clear|nil)")[^<>]*fill="auto")'
    r'|\su="(?!none)'
)
"""What shows even white space, if it is not switched off, as some programs do in each run; the last
one is a line in PowerPoint."""

_UNSEEN_PROPERTIES = (
    *("lang", "noProof"),
    *("altLang", "dirty", "err", "smtClean", "smtId", "kumimoji"),  # in PowerPoint
)
"""What a program notes about text; the last one is how numbers would stand in columns."""

_KINDS_OF_TEXT = ("wordprocessingml", "drawingml")
_KEPT_FIRST, _KEPT_LAST = "pPr", "endParaRPr"


class OfficeOpenXml:
    """How DOCX and PPTX have paragraphs."""

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find everything that directly holds runs: paragraphs, and content controls in them."""
        placeholders = list(root.iter("{*}ph")) if name_of(root) in _MASTERS else []
        unseen = {shape for each in placeholders for shape in each.iterancestors("{*}sp")}
        for element in root.iter():
            if unseen and not unseen.isdisjoint(element.iterancestors("{*}sp")):
                continue
            if name_of(element) not in _OTHER_HOLDERS and any(
                _is_run(child) or name_of(child) in (*_WRAPPERS, *_LEFT_OUT) or _is_link(child)
                for child in element
            ):
                yield element

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""
        starts, others, ends = sort_marks(_read_children(paragraph, ()), _STARTS, _ENDS, _floats)
        return [*starts, *_read_fields(others), *ends]

    def fill(self, paragraph: Element, content: Sequence[Inline]) -> None:
        """Replace the content of a paragraph, but not its format."""
        first, last = (paragraph.findall(f"{{*}}{name}") for name in (_KEPT_FIRST, _KEPT_LAST))
        paragraph[:] = first
        around = Around(paragraph)
        for part in content:
            if part.around and _is_run(part.around[-1]):
                around.innermost(part.around[:-1]).append(_run(part))
            else:
                around.innermost(part.around).append(part.thing)
        paragraph.extend(last)


def _run(part: Inline) -> Element:
    """Write a run in the format of another: with text, or else with a thing."""
    like = part.around[-1]
    run = without_content(like)
    run.extend(map(deepcopy, like.iterchildren("{*}rPr")))
    if part.text is None:
        run.append(part.thing)
        return run
    said = in_namespace_of(run, "t")
    said.text = part.text
    if "wordprocessingml" in like.tag:
        said.set(XML_SPACE, "preserve")
    run.append(said)
    return run


def _is_run(element: Element) -> bool:
    """Tell whether an element is a run of text, not of a formula."""
    return name_of(element) == "r" and any(kind in element.tag for kind in _KINDS_OF_TEXT)


def _read_children(element: Element, wrappers: tuple[Element, ...]) -> Iterator[Inline]:
    """Read what stands in a paragraph, or in something around runs."""
    for child in element:
        name = name_of(child)
        if _is_run(child):
            yield from _read_run(child, wrappers)
        elif name in _WRAPPERS or _is_link(child):
            yield from _read_children(child, (*wrappers, child))
        elif name in _LEFT_OUT:
            yield from _read_children(child, wrappers)
        elif name not in (_KEPT_FIRST, _KEPT_LAST, *_UNSEEN):
            is_mark = name.endswith((*_STARTS, *_ENDS))  # and goes to an end of the paragraph
            yield Inline(() if is_mark else wrappers, thing=child, separates=name in _SEPARATORS)


def _read_run(run: Element, wrappers: tuple[Element, ...]) -> list[Inline]:
    """Take a run apart."""
    parts = []
    around = (*wrappers, run)
    form = _format(around)
    is_lined = _LINED.search(form) is not None
    for child in run:
        name = name_of(child)
        if name == "t":
            parts += [
                Inline(around, text, form, child, separates=i % 2 == 1, is_lined=is_lined)
                for i, text in enumerate(_BREAK.split(child.text or ""))
            ]
        elif name == "noBreakHyphen":
            parts.append(Inline(around, "\u2011", form, child))
        elif name == "ruby":  # characters, and how they are read, which a translation is not
            said = (text for base in child.iter("{*}rubyBase") for text in base.iter("{*}t"))
            parts += [Inline(around, each.text or "", form, each) for each in said]
        elif name not in ("rPr", *_UNSEEN):
            parts.append(Inline(around, thing=child, separates=name in _SEPARATORS))
    return parts


def _floats(thing: Element) -> bool:
    """Tell whether a picture or a box stands beside the text, wherever in it its anchor is."""
    if name_of(thing) not in ("drawing", "AlternateContent"):
        return False
    drawing = next(thing.iter("{*}inline", "{*}anchor"), None)
    return drawing is not None and name_of(drawing) == "anchor"


def _format(around: Sequence[Element]) -> str:
    """Describe a format, except for the language and the history of the text.

    Where both kinds of text have a sign, Word notes in which of its fonts it stands: "hint".
    """
    *wrappers, run = around
    described = [without_content(wrapper) for wrapper in wrappers]
    for properties in map(deepcopy, run.iterchildren("{*}rPr")):
        for child in [child for child in properties if name_of(child) in _UNSEEN_PROPERTIES]:
            properties.remove(child)
        for fonts in properties.findall("{*}rFonts"):
            fonts.attrib.pop(fonts.tag.replace("rFonts", "hint"), None)
            if not fonts.attrib:
                properties.remove(fonts)
        for attribute in _UNSEEN_PROPERTIES:
            properties.attrib.pop(attribute, None)
        if len(properties) or properties.attrib:
            described.append(properties)
    return as_xml(described)


def _is_link(element: Element) -> bool:
    """Tell whether an element is a field that is a link."""
    if name_of(element) != _FIELD:
        return False
    instruction = element.get(element.tag.replace(_FIELD, _INSTRUCTION), "")
    return _Field(0, instruction=instruction).kind == _LINK


@dataclass
class _Field:
    """A field that has begun."""

    start: int
    """The place of its first part."""

    result: int | None = None
    """The place of the first part that is shown."""

    instruction: str = ""

    computed: list[slice] = field(default_factory=list)
    """Where fields within it are that programs compute."""

    @property
    def kind(self) -> str:
        """The word with which its instruction begins."""
        return re.split(r"[^A-Z]", self.instruction.strip().upper(), maxsplit=1)[0]

    @property
    def is_computed(self) -> bool:
        """Whether a program computes what it shows."""
        if self.kind in (_TYPED, *_INVISIBLE):
            return False
        return self.result is None or self.kind != _LINK


def _read_fields(parts: Sequence[Inline]) -> list[Inline]:
    """Keep the results of fields, such as numbers of pages, as things: programs compute them.

    A field that is a link becomes an element around its text, like other links. Of a field that
    goes on in another paragraph, as a table of contents does, the text is translated. What shows
    nothing goes to the end.
    """
    found: list[Inline] = []
    invisible: list[Inline] = []
    whole = _Field(0)
    unended = [whole]
    for part in parts:
        name = "" if part.thing is None else name_of(part.thing)
        if name not in ("fldChar", "instrText"):
            found.append(part)
            continue
        found.append(part._replace(separates=True))
        kind = part.thing.get(part.thing.tag.replace("}fldChar", "}fldCharType"))
        if kind == "begin":
            unended.append(_Field(len(found) - 1))
        elif name == "instrText":
            unended[-1].instruction += part.thing.text or ""
        elif kind == "separate":
            unended[-1].result = len(found)
        elif kind == "end" and unended[-1] is not whole:
            invisible += _end(unended.pop(), unended[-1], found)
    for each in unended:
        _keep(each.computed, found)
    return [*found, *invisible]


def _end(ended: _Field, outer: _Field, parts: list[Inline]) -> Sequence[Inline]:
    """Read the field with which the parts end; return what of it shows nothing.

    Whether it becomes a thing is put off, for all of the field around it may become one.
    """
    if ended.is_computed:
        outer.computed.append(slice(ended.start, len(parts)))
        return ()
    _keep(ended.computed, parts)
    inside = _read_field(ended, parts)
    del parts[ended.start :]
    if ended.kind in _INVISIBLE:
        return inside
    parts += inside
    return ()


def _keep(places: Iterable[slice], parts: list[Inline]) -> None:
    """Make things of some parts."""
    for place in places:
        parts[place] = [
            part._replace(text=None, format="", separates=False) for part in parts[place]
        ]


def _read_field(ended: _Field, parts: Sequence[Inline]) -> Sequence[Inline]:
    """Write a field, with which the parts end, as a link, or let it part its text."""
    begin, inside = parts[ended.start], parts[ended.start :]
    if ended.kind != _LINK:
        return inside
    outer, depth = begin.around[:-1], len(begin.around) - 1
    if any(part.around[:depth] != outer for part in inside):
        return inside  # it begins within another element than it ends in
    tag = begin.thing.tag.replace("fldChar", _FIELD)
    attributes = {tag.replace(_FIELD, _INSTRUCTION): ended.instruction}
    link = begin.thing.makeelement(tag, attributes, nsmap=begin.thing.nsmap)
    return [
        part._replace(
            around=(*outer, link, *part.around[depth:]),
            format=ended.instruction + part.format,
        )
        for part in parts[ended.result : -1]
    ]
