"""XLIFF 1.2 and 2.x: units without a translation get one; those that have one stay as they are."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from dragoman.documents.document import (
    OTHER_ENCODING,
    Document,
    DocumentError,
    Edit,
    Rewritten,
    edit,
)
from dragoman.documents.languages import check_language
from dragoman.documents.xliff_content import translate_content
from dragoman.documents.xliff_file import Part, XliffFile
from dragoman.documents.xliff_marks import (
    is_locked,
    local_name,
    mark_segment,
    mark_unit,
    name_in,
    read_attributes,
)
from dragoman.languages.codes import language_tag
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader

_UNITS = ("trans-unit", "segment")
"""What has a source and a target, in 1.2 and in 2.x."""

_LANGUAGES = {"file": ("source-language", "target-language"), "xliff": ("srcLang", "trgLang")}
"""Where the languages are named, and by what."""

_STATE = ' state="needs-review-translation" state-qualifier="leveraged-mt"'
"""That a program has translated it, in the words of XLIFF 1.2."""

_OTHER_STATE = re.compile(
    r"""\s+ state(?:-qualifier)? \s* = \s* (?: "[^"]*" | '[^']*' )""", re.VERBOSE
)
_UNDONE = ("new", "needs-translation", "initial")
"""States in which a copy of the source is no translation."""


def take_xliff_apart(text: str, reader: TextReader) -> Document:
    """Take an XLIFF file apart.

    Raises:
        DocumentError: it is not XLIFF, or cut short, or between other languages than the model's.
    """
    file = XliffFile(text)
    edits: list[Edit] = []
    if declared := OTHER_ENCODING.match(text):
        edits.append(Edit(*declared.span(1), "UTF-8"))
    copies = list[int]()
    num_units = place = 0
    while place < len(file.tokens):
        token = file.tokens[place]
        if token.kind == "open" and local_name(token) in _LANGUAGES:
            file.end(place)  # a file that was cut short lacks it
            edits += _check_languages(file, place, reader)
        elif token.kind == "open" and local_name(token) in _UNITS:
            num_units += 1
            end = file.end(place)
            if not file.is_untranslated(place):
                new = _translate_unit(file, place, end, reader)
                copies += [] if new else _find_copy(file, place, end)
                edits += new
            place = end
        place += 1
    if not num_units:
        raise DocumentError(1, "no <trans-unit> (XLIFF 1.2) and no <segment> (2.x) is in it")
    return edit(text, edits, _warn(file, copies) if 2 * len(copies) >= num_units else "")


def _find_copy(file: XliffFile, opening: int, closing: int) -> list[int]:
    """Return where the target of a unit begins if it is a copy of the source, or else nothing."""
    parts = file.parts(opening, closing)
    source, target = parts.get("source"), parts.get("target")
    is_copy = source and target and file.inside(source) == file.inside(target) != ""
    return [target.opening] if target and is_copy else []


def _warn(file: XliffFile, copies: Sequence[int]) -> str:
    """Say that many targets stay that seem to be there for somebody to write over.

    A few, such as names, are often the same in both languages.
    """
    more = f", and so are {len(copies) - 1:,} more" if copies[1:] else ""
    return (
        f"line {file.line(copies[0])}: this target is a copy of its source{more}; a copy counts "
        "as a translation, so empty the target of what is to be translated"
    )


def _check_languages(file: XliffFile, place: int, reader: TextReader) -> Iterator[Edit]:
    """Refuse other languages than the model's, and name the target if nothing does."""
    tag = file.tokens[place].raw
    said = read_attributes(tag)
    source, target = _LANGUAGES[local_name(file.tokens[place])]
    check_language(said.get(source.lower(), ""), reader.source, file.line(place), "from")
    check_language(said.get(target.lower(), ""), reader.target, file.line(place), "into")
    if source.lower() in said and target.lower() not in said:
        end = file.starts[place] + len(tag.rstrip("/>").rstrip())
        yield Edit(end, end, f' {target}="{language_tag(reader.target)}"')


def _translate_unit(file: XliffFile, opening: int, closing: int, reader: TextReader) -> list[Edit]:
    """Write the translation of a unit, and say so in the words of the program that it is from."""
    parts = file.parts(opening, closing)
    if not (edits := list(_fill(file, opening, parts, reader))):
        return []
    edits += _edit_tag(file, opening, mark_unit)
    for place in _find_begun(file, parts):
        edits += _edit_tag(file, place, mark_segment)
    return sorted(edits, key=lambda each: each.start)


def _edit_tag(file: XliffFile, place: int, write: Callable[[str], str]) -> list[Edit]:
    tag = file.tokens[place].raw
    written, start = write(tag), file.starts[place]
    return [] if written == tag else [Edit(start, start + len(tag), written)]


def _find_begun(file: XliffFile, parts: Mapping[str, Part]) -> list[int]:
    """Find what Trados says of those segments of a unit that get a translation."""
    done = {
        name
        for name, segment in (file.segments(parts["target"]) if "target" in parts else ())
        if not file.is_blank(segment)
    }
    return [
        place
        for place in _definitions(file, parts)
        if not is_locked(file.tokens[place])
        and read_attributes(file.tokens[place].raw).get("id") not in done
    ]


def _definitions(file: XliffFile, parts: Mapping[str, Part]) -> list[int]:
    """Find the tags by which Trados says something of each segment of a unit."""
    if (all_of_them := parts.get("seg-defs")) is None:
        return []
    return [
        place
        for place in range(all_of_them.opening, all_of_them.closing)
        if local_name(file.tokens[place]) == "seg" and file.tokens[place].kind != "close"
    ]


def _fill(
    file: XliffFile, opening: int, parts: Mapping[str, Part], reader: TextReader
) -> Iterator[Edit]:
    """Write the translation of a unit, or of those of its segments that have none."""
    source, target = parts.get("source"), parts.get("target")
    if source is None or file.is_blank(source):
        return
    origin = parts.get("seg-source", source)
    segments, locked = file.segments(origin), _locked_segments(file, parts)
    if segments and locked.issuperset(dict(segments)):
        return
    lines = file.keeps_lines(source.opening)
    translate = partial(translate_content, file, reader=reader, lines=lines)
    translate_all = partial(_translate_all, file, origin, translate=translate, locked=locked)
    state = _STATE if local_name(file.tokens[opening]) == "trans-unit" else ""
    if target is None:
        token = file.tokens[source.opening]
        name = token.raw[1 : 1 + len(token.name)].removesuffix("source") + "target"
        indent = file.tokens[source.opening - 1].raw
        tag = f"{indent[len(indent.rstrip()) :]}<{name}{state}>"
        end = file.starts[origin.closing + 1]
        yield Edit(end, end, translate_all(tag))
        return
    tag = _unclosed(file, target)
    tag = (_OTHER_STATE.sub("", tag) + state if state else tag) + ">"
    is_copy = file.inside(target) in (file.inside(source), file.inside(origin)) and not locked
    if file.is_blank(target) or (is_copy and _is_undone(file, opening, target)):
        yield Edit(*file.span(target), translate_all(tag))
        return
    origins = dict(segments)
    blank = [
        (name, part)
        for name, part in file.segments(target)
        if name in origins and name not in locked and file.is_blank(part)
    ]
    if blank:
        yield Edit(file.starts[target.opening], file.starts[target.opening + 1], tag)
    for name, part in blank:
        yield Edit(*file.span(part), translate(origins[name], _unclosed(file, part) + ">"))


def _is_undone(file: XliffFile, unit: int, target: Part) -> bool:
    """Tell whether a copy of the source is a target for somebody to write over."""
    states = (
        read_attributes(file.tokens[place].raw).get("state") for place in (unit, target.opening)
    )
    return any(state in _UNDONE for state in states)


def _locked_segments(file: XliffFile, parts: Mapping[str, Part]) -> set[str]:
    """Return the names of the segments of a unit that Trados has locked."""
    tags = [file.tokens[place] for place in _definitions(file, parts)]
    return {read_attributes(tag.raw).get("id", "") for tag in tags if is_locked(tag)}


def _unclosed(file: XliffFile, part: Part) -> str:
    """Return the tag of an element, without its end."""
    return file.tokens[part.opening].raw.rstrip("/> \t\r\n")


def _translate_all(
    file: XliffFile,
    part: Part,
    tag: str,
    *,
    translate: Callable[[Part, str], Passage],
    locked: Collection[str],
) -> Passage:
    """Translate an element, or its segments if it is divided; what is between these stays.

    Locked ones are left empty.
    """
    start, edits = file.starts[part.opening + 1], list[Edit]()
    for name, segment in file.segments(part):
        opening = _unclosed(file, segment) + ">"
        translation = (
            f"{opening}</{name_in(opening)}>" if name in locked else translate(segment, opening)
        )
        begin, end = file.span(segment)
        edits.append(Edit(begin - start, end - start, translation))
    if not edits:
        return translate(part, tag)
    written = edit(file.inside(part), edits)
    return Rewritten(written, lambda found: f"{tag}{found}</{name_in(tag)}>")
