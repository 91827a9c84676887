"""Paragraphs of DOCX and PPTX, and of drawings in XLSX: runs of text, each with its format."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import accumulate

from dragoman.documents.paragraph import XML_SPACE, Element, Inline, name_of

_WRAPPERS = ("hyperlink", "ins", "moveTo", "smartTag")
"""What may stand around runs, within a sentence."""

_OTHER_HOLDERS = (*_WRAPPERS, "del", "moveFrom", "fldSimple", "rt", "rubyBase")
"""What holds runs that are part of a sentence around it, or are no text to translate."""

_SEPARATORS = ("br", "cr", "tab", "ptab")
_MARKS = ("Start", "End")
"""How marks of a stretch are called, such as of a bookmark or a comment."""

_UNSEEN = ("proofErr", "lastRenderedPageBreak", "softHyphen")
"""What a program noted about an earlier state of the text; it is left out."""

_UNSEEN_PROPERTIES = ("lang", "noProof", "dirty", "err")
"""What a program notes about text; the last two are attributes."""

_KINDS_OF_TEXT = ("wordprocessingml", "drawingml")
_KEPT_FIRST, _KEPT_LAST = ("pPr",), ("endParaRPr",)


class OfficeOpenXml:
    """How DOCX and PPTX have paragraphs."""

    def paragraphs(self, root: Element) -> Iterator[Element]:
        """Find everything that directly holds runs: paragraphs, and content controls in them."""
        for element in root.iter():
            if name_of(element) not in _OTHER_HOLDERS and any(
                _is_run(child) or name_of(child) in _WRAPPERS for child in element
            ):
                yield element

    def read(self, paragraph: Element) -> list[Inline]:
        """Take a paragraph apart."""
        parts = list(_read_children(paragraph, ()))
        starts, ends = (
            [part for part in parts if not part.around and name_of(part.thing).endswith(mark)]
            for mark in _MARKS
        )
        marks = {id(part) for part in (*starts, *ends)}
        return [*starts, *_with_fields([p for p in parts if id(p) not in marks]), *ends]

    def write(self, part: Inline, text: str | None) -> Element:
        """Write text in a run like that of a part, or the thing that it is in its run."""
        if not part.around:
            return part.thing
        *outer, run = part.around
        written = _without_content(run)
        written.extend(deepcopy(child) for child in run if name_of(child) == "rPr")
        if text is None:
            written.append(part.thing)
        else:
            said = written.makeelement(run.tag[: -len("r")] + "t", nsmap=run.nsmap)
            said.text = text
            if "wordprocessingml" in run.tag:
                said.set(XML_SPACE, "preserve")
            written.append(said)
        for wrapper in reversed(outer):
            around = _without_content(wrapper)
            around.append(written)
            written = around
        return written

    def fill(self, paragraph: Element, content: Sequence[Element]) -> None:
        """Replace the content of a paragraph, but not its format."""
        first = [child for child in paragraph if name_of(child) in _KEPT_FIRST]
        last = [child for child in paragraph if name_of(child) in _KEPT_LAST]
        paragraph[:] = [*first, *content, *last]


def _is_run(element: Element) -> bool:
    """Tell whether an element is a run of text, not of a formula."""
    return name_of(element) == "r" and any(kind in element.tag for kind in _KINDS_OF_TEXT)


def _without_content(element: Element) -> Element:
    return element.makeelement(element.tag, dict(element.attrib), nsmap=element.nsmap)


def _read_children(element: Element, wrappers: tuple[Element, ...]) -> Iterator[Inline]:
    """Read what stands in a paragraph, or in something around runs."""
    for child in element:
        name = name_of(child)
        if _is_run(child):
            yield from _read_run(child, wrappers)
        elif name in _WRAPPERS:
            yield from _read_children(child, (*wrappers, child))
        elif name not in (*_KEPT_FIRST, *_KEPT_LAST, *_UNSEEN):
            yield Inline((), thing=child, separates=name.endswith(_MARKS) or name in _SEPARATORS)


def _read_run(run: Element, wrappers: tuple[Element, ...]) -> list[Inline]:
    """Take a run apart."""
    parts = []
    around = (*wrappers, run)
    form = _format(around)
    for child in run:
        name = name_of(child)
        if name == "t":
            parts.append(Inline(around, child.text or "", form, child))
        elif name == "noBreakHyphen":
            parts.append(Inline(around, "\u2011", form, child))
        elif name not in ("rPr", *_UNSEEN):
            parts.append(Inline(around, thing=child, separates=name in _SEPARATORS))
    return parts


def _format(around: Sequence[Element]) -> str:
    """Describe a format, except for the language and the history of the text."""
    from lxml import etree

    *wrappers, run = around
    described = [_without_content(wrapper) for wrapper in wrappers]
    for properties in (deepcopy(child) for child in run if name_of(child) == "rPr"):
        for child in [child for child in properties if name_of(child) in _UNSEEN_PROPERTIES]:
            properties.remove(child)
        for attribute in _UNSEEN_PROPERTIES:
            properties.attrib.pop(attribute, None)
        if len(properties) or properties.attrib:
            described.append(properties)
    return "".join(etree.tostring(each, encoding="unicode", with_tail=False) for each in described)


def _with_fields(parts: Sequence[Inline]) -> list[Inline]:
    """Keep the results of fields, such as numbers of pages, as things: programs compute them.

    The text of a link is none of them, nor is that of a field that ends in another paragraph.
    """
    depth = [0] * (len(parts) + 1)  # of computed fields, as a change at each part
    open_fields: list[tuple[int, list[str]]] = []
    for i, part in enumerate(parts):
        name = "" if part.thing is None else name_of(part.thing)
        if name == "instrText" and open_fields:
            open_fields[-1][1].append(part.thing.text or "")
        if name != "fldChar":
            continue
        kind = part.thing.get(part.thing.tag.replace("}fldChar", "}fldCharType"))
        if kind == "begin":
            open_fields.append((i, []))
        elif kind == "end" and open_fields:
            start, instruction = open_fields.pop()
            if not "".join(instruction).strip().upper().startswith("HYPERLINK"):
                depth[start] += 1
                depth[i + 1] -= 1
    return [
        part._replace(text=None, format="", separates=False) if inside else part
        for part, inside in zip(parts, accumulate(depth), strict=False)
    ]
