"""The direction in which the text of an office document runs, where the new language turns it."""

import unicodedata

from dragoman.documents.open_document import FO, OFFICE, STYLE
from dragoman.documents.paragraph import Element, in_namespace_of, name_of

_AFTER = {
    "pPr": "adjustRightInd snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap "
    "jc textDirection textAlignment textboxTightWrap outlineLvl divId cnfStyle rPr sectPr"
    " pPrChange",
    "sectPr": "rtlGutter docGrid printerSettings sectPrChange",
    "rPr": "cs em lang eastAsianLayout specVanish oMath rPrChange",
    "tblPr": "tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing tblInd tblBorders"
    " shd tblLayout tblCellMar tblLook tblCaption tblDescription tblPrChange",
}
"""What may stand behind a mark of direction in each format: Word takes another order for damage
(ISO 29500-1). What newer versions add to a format stands behind all of it."""

_MARKS = ("bidi", "rtl", "bidiVisual", "cs")

_ROOT_STYLES = ("defaultTextStyle", "titleStyle", "bodyStyle", "otherStyle", "notesStyle")
"""Of a presentation: what says nothing of a paragraph in them has it from no other style."""

_OTHER_SIDE = {
    "l": "r",
    "r": "l",
    "start": "right",
    "left": "right",
    "end": "left",
    "right": "left",
}
"""Names of alignments in DrawingML and OpenDocument. LibreOffice takes "start" for the left side,
whatever the direction (`pXML_Para_Adjust_Enum`)."""

_WRITING_MODE, _FAMILY = f"{STYLE}writing-mode", f"{STYLE}family"
_ALIGN = f"{FO}text-align"
_MODES = (("lr-tb", "rl-tb"), ("lr", "rl"))


def turn(root: Element, *, from_right: bool) -> None:
    """Let the text of a part run from the right, or from the left.

    Args:
        root: Of the part.
        from_right: How its text runs from now on.
    """
    if "opendocument" in root.tag:
        _turn_open_document(root, from_right=from_right)
    elif "spreadsheetml" in root.tag:
        for view in root.iter("{*}sheetView"):
            view.set("rightToLeft", str(int(from_right)))
    else:
        _turn_word(root, from_right=from_right)
        _turn_drawing(root, from_right=from_right)


def lay_down(root: Element) -> None:
    """Let the text of pages that runs downwards, in columns, run in lines."""
    for section in _of(root, "wordprocessingml", "sectPr"):
        for direction in section.findall("{*}textDirection"):
            section.remove(direction)
    for page in root.iter(f"{STYLE}page-layout-properties"):
        if page.get(_WRITING_MODE, "").startswith("tb"):
            page.set(_WRITING_MODE, _MODES[0][0])


def _of(root: Element, kind: str, *names: str) -> list[Element]:
    """Find elements of a kind of Office Open XML, whose namespaces have two versions each."""
    found = root.iter(*(f"{{*}}{name}" for name in names))
    return [element for element in found if kind in element.tag]


def _turn_word(root: Element, *, from_right: bool) -> None:
    if from_right:
        _mark_word(root)
    else:
        for mark in _of(root, "wordprocessingml", *_MARKS):
            mark.getparent().remove(mark)


def _mark_word(root: Element) -> None:
    """Mark paragraphs, sections, tables and words that run from the right."""
    for paragraph in _of(root, "wordprocessingml", "p"):
        _mark(_properties(paragraph, "pPr"), "bidi")
    for section in _of(root, "wordprocessingml", "sectPr"):
        _mark(section, "bidi")
    for table in _of(root, "wordprocessingml", "tbl"):
        _mark(_properties(table, "tblPr"), "bidiVisual")
    for run in _of(root, "wordprocessingml", "r"):
        text = "".join(child.text or "" for child in run.iterchildren("{*}t"))
        if text and _runs_from_right(text):
            _mark(_properties(run, "rPr"), "rtl")


def _runs_from_right(text: str) -> bool:
    """Tell whether text belongs to what runs from the right: all but words of other scripts."""
    kinds = {unicodedata.bidirectional(character) for character in text}
    return "L" not in kinds or not kinds.isdisjoint({"R", "AL"})


def _properties(element: Element, name: str) -> Element:
    """Return the format of a paragraph, a table or a run, with which each begins."""
    if (found := element.find(f"{{*}}{name}")) is not None:
        return found
    made = in_namespace_of(element, name)
    element.insert(0, made)
    return made


def _mark(properties: Element, name: str) -> None:
    """Put a mark of direction in its place."""
    for child in properties.findall(f"{{*}}{name}"):
        properties.remove(child)
    after = _AFTER[name_of(properties)].split()
    namespace = properties.tag[: properties.tag.index("}") + 1]
    places = (
        i
        for i, child in enumerate(properties)
        if name_of(child) in after or not child.tag.startswith(namespace)
    )
    properties.insert(next(places, len(properties)), in_namespace_of(properties, name))


def _turn_drawing(root: Element, *, from_right: bool) -> None:
    for level in _of(root, "drawingml", *(f"lvl{i}pPr" for i in range(1, 10))):
        if from_right and name_of(level.getparent()) in _ROOT_STYLES:
            level.set("algn", level.get("algn", "l"))
        if "algn" in level.attrib or "rtl" in level.attrib:
            _turn_paragraph(level, from_right=from_right)
    for paragraph in _of(root, "drawingml", "p"):
        _turn_paragraph(_properties(paragraph, "pPr"), from_right=from_right)
    for table in _of(root, "drawingml", "tblPr"):
        table.set("rtl", str(int(from_right)))


def _turn_paragraph(properties: Element, *, from_right: bool) -> None:
    if alignment := properties.get("algn"):
        properties.set("algn", _OTHER_SIDE.get(alignment, alignment))
    properties.set("rtl", str(int(from_right)))


def _turn_open_document(root: Element, *, from_right: bool) -> None:
    modes = dict(mode if from_right else mode[::-1] for mode in _MODES)
    for properties in root.iter(f"{STYLE}*"):
        for name, others in ((_WRITING_MODE, modes), (_ALIGN, _OTHER_SIDE)):
            if value := properties.get(name):
                properties.set(name, others.get(value, value))
    mode = _MODES[0][from_right]
    for page in root.iter(f"{STYLE}page-layout-properties"):
        page.set(_WRITING_MODE, mode)
    for styles in root.iter(f"{OFFICE}styles"):
        for properties in map(_paragraph_properties, _default_styles(styles)):
            properties.set(_WRITING_MODE, mode)
            if from_right:
                properties.set(_ALIGN, properties.get(_ALIGN, "right"))


def _default_styles(styles: Element) -> list[Element]:
    """Return what paragraphs and shapes have where no style of theirs says otherwise."""
    found = {style.get(_FAMILY): style for style in styles.iterchildren(f"{STYLE}default-style")}
    if "paragraph" not in found:
        made = styles.makeelement(f"{STYLE}default-style", {_FAMILY: "paragraph"})
        styles.insert(0, made)
        found["paragraph"] = made
    return [style for family, style in found.items() if family in ("paragraph", "graphic")]


def _paragraph_properties(style: Element) -> Element:
    if (found := style.find(f"{STYLE}paragraph-properties")) is not None:
        return found
    made = style.makeelement(f"{STYLE}paragraph-properties", {})
    behind = style.find(f"{STYLE}text-properties")
    style.insert(len(style) if behind is None else style.index(behind), made)
    return made
