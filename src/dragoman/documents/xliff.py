"""XLIFF 1.2 and 2.x: units without a translation get one; those that have one stay as they are."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from itertools import accumulate
from typing import NamedTuple

from dragoman.documents.choices import read_choices
from dragoman.documents.document import (
    OTHER_ENCODING,
    Document,
    DocumentError,
    Edit,
    Rewritten,
    edit,
)
from dragoman.documents.languages import check_language
from dragoman.documents.xliff_marks import (
    breaks_line,
    is_locked,
    is_untranslated,
    keeps_lines,
    local_name,
    mark_segment,
    mark_unit,
    read_attributes,
)
from dragoman.languages.codes import language_tag
from dragoman.markup.document import is_marked_up
from dragoman.markup.passage import Passage
from dragoman.markup.placeholders import PLACEHOLDER, unused_names
from dragoman.markup.rules import STRING, Rules
from dragoman.markup.tags import CDATA, CDATA_END, Token, find_ends, read_tokens
from dragoman.markup.text_reader import TextReader

_UNITS = ("trans-unit", "segment")
"""What has a source and a target, in 1.2 and in 2.x."""

_LANGUAGES = {"file": ("source-language", "target-language"), "xliff": ("srcLang", "trgLang")}
"""Where the languages are named, and by what."""

_PLACEHOLDERS = ("ph", "x", "it", "bx", "ex", "sc", "ec", "cp", "sm", "em")
"""What stands for something of the program, whose place is in the sentence; as does any element
without content."""

_OPENING, _CLOSING = {"bx", "sc", "bpt", "START_"}, {"ex", "ec", "ept", "CLOSE_"}
"""Those of them that are one of a pair, by their names or how Angular begins their identifiers."""

_RULES = Rules(
    untranslated=frozenset(),
    inline=frozenset({"g", "mrk", "pc", "bpt", "ept"}),
    codes={"bpt": "open", "ept": "close"},
    is_xml=True,
)

_STATE = ' state="needs-review-translation" state-qualifier="leveraged-mt"'
"""That a program has translated it, in the words of XLIFF 1.2."""

_WORD = re.compile(r"<([a-zA-Z][\w.-]*)(?![^<>]*/>)[^<>]*>")
"""What may be a tag that begins an element, or a word in angle brackets."""

_OTHER_STATE = re.compile(
    r"""\s+ state(?:-qualifier)? \s* = \s* (?: "[^"]*" | '[^']*' )""", re.VERBOSE
)
_UNDONE = ("new", "needs-translation", "initial")
"""States in which a copy of the source is no translation."""

_IN_BRACES = re.compile(
    r"\{(?P<opening>[\w^]{1,4})(?:&gt;|>) | &lt;(?P<closing>[\w^]{1,4})\}", re.X
)
"""Tags around words as Phrase writes them."""

_SHOWN = re.compile(
    rf"""(?P<before>[ ]?) (?:<(?P<pair>[be]pt)>)? (?P<name>{PLACEHOLDER.pattern})
    (?(pair)</(?P=pair)>) (?P<after>[ ]?)""",
    re.VERBOSE,
)


class _Part(NamedTuple):
    """An element of a unit, by the places of its tags in the list of tokens."""

    opening: int
    closing: int


class _File:
    """The tokens of a file, and where each begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = read_tokens(text, is_xml=True, is_string=False)
        self.starts = [0, *accumulate(len(token.raw) for token in self.tokens)]
        self._ends = find_ends(self.tokens)
        self._keeping_lines = self._find_within(keeps_lines)
        self._untranslated = self._find_within(is_untranslated)

    def line(self, place: int) -> int:
        """Return the line of a token, from 1."""
        return self.text.count("\n", 0, self.starts[place]) + 1

    def inside(self, part: _Part) -> str:
        """Return what stands between the tags of an element."""
        return self.text[self.starts[part.opening + 1] : self.starts[part.closing]]

    def span(self, part: _Part) -> tuple[int, int]:
        """Return where an element begins and ends in the text."""
        return self.starts[part.opening], self.starts[part.closing + 1]

    def is_blank(self, part: _Part) -> bool:
        """Tell whether an element says nothing; it may be divided into segments."""
        return all(
            token.is_comment
            or local_name(token) == "mrk"
            or not token.raw.removeprefix(CDATA).removesuffix(CDATA_END).strip()
            for token in self.tokens[part.opening + 1 : part.closing]
        )

    def first_letter(self, place: int, end: int) -> str:
        """Return what is read first from one place to another, up to the next placeholder."""
        tokens = (self.tokens[i] for i in range(place, end))
        read = (each for each in tokens if each.kind == "text" or _is_placeholder(each))
        return next((token.raw[0] for token in read), "")

    def is_text(self, part: _Part) -> bool:
        """Tell whether there are no tags in an element, and no comments."""
        inside = self.tokens[part.opening + 1 : part.closing]
        return all(token.kind == "text" for token in inside)

    def keeps_lines(self, place: int) -> bool:
        """Tell whether line breaks are more than spaces in the element that begins at a place.

        It or an element around it says so, the innermost that says anything (XML 1.0, 2.10).
        """
        return place in self._keeping_lines

    def is_untranslated(self, place: int) -> bool:
        """Tell whether the element that begins at a place is to stay as it is."""
        return place in self._untranslated

    def _find_within(self, says: Callable[[Token], bool | None]) -> set[int]:
        """Find what is in elements that say something; the innermost that says anything counts."""
        said, found = [(len(self.tokens), False)], set[int]()
        for place, token in enumerate(self.tokens):
            while place > said[-1][0]:
                said.pop()
            if place in self._ends and (new := says(token)) is not None:
                said.append((self._ends[place], new))
            if said[-1][1]:
                found.add(place)
        return found

    def end(self, opening: int) -> int:
        """Find the token that ends an element.

        Raises:
            DocumentError: there is none.
        """
        if self.tokens[opening].kind != "open":
            return opening
        if opening not in self._ends:
            raise DocumentError(
                self.line(opening), f"<{local_name(self.tokens[opening])}> is not closed"
            )
        return self._ends[opening]


def take_xliff_apart(text: str, reader: TextReader) -> Document:
    """Take an XLIFF file apart.

    Raises:
        DocumentError: it is not XLIFF, or cut short, or between other languages than the model's.
    """
    file = _File(text)
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


def _find_copy(file: _File, opening: int, closing: int) -> list[int]:
    """Return where the target of a unit begins if it is a copy of the source, or else nothing."""
    parts = _parts(file, opening, closing)
    source, target = parts.get("source"), parts.get("target")
    is_copy = source and target and file.inside(source) == file.inside(target) != ""
    return [target.opening] if target and is_copy else []


def _warn(file: _File, copies: Sequence[int]) -> str:
    """Say that many targets stay that seem to be there for somebody to write over.

    A few, such as names, are often the same in both languages.
    """
    more = f", and so are {len(copies) - 1:,} more" if copies[1:] else ""
    return (
        f"line {file.line(copies[0])}: this target is a copy of its source{more}; a copy counts "
        "as a translation, so empty the target of what is to be translated"
    )


def _check_languages(file: _File, place: int, reader: TextReader) -> Iterator[Edit]:
    """Refuse other languages than the model's, and name the target if nothing does."""
    tag = file.tokens[place].raw
    said = read_attributes(tag)
    source, target = _LANGUAGES[local_name(file.tokens[place])]
    check_language(said.get(source.lower(), ""), reader.source, file.line(place), "from")
    check_language(said.get(target.lower(), ""), reader.target, file.line(place), "into")
    if source.lower() in said and target.lower() not in said:
        end = file.starts[place] + len(tag.rstrip("/>").rstrip())
        yield Edit(end, end, f' {target}="{language_tag(reader.target)}"')


def _translate_unit(file: _File, opening: int, closing: int, reader: TextReader) -> list[Edit]:
    """Write the translation of a unit, and say so in the words of the program that it is from."""
    parts = _parts(file, opening, closing)
    if not (edits := list(_fill(file, opening, parts, reader))):
        return []
    edits += _edit_tag(file, opening, mark_unit)
    for place in _find_begun(file, parts):
        edits += _edit_tag(file, place, mark_segment)
    return sorted(edits, key=lambda each: each.start)


def _edit_tag(file: _File, place: int, write: Callable[[str], str]) -> list[Edit]:
    tag = file.tokens[place].raw
    written, start = write(tag), file.starts[place]
    return [] if written == tag else [Edit(start, start + len(tag), written)]


def _find_begun(file: _File, parts: Mapping[str, _Part]) -> list[int]:
    """Find what Trados says of those segments of a unit that get a translation."""
    done = {
        name
        for name, segment in (_segments(file, parts["target"]) if "target" in parts else ())
        if not file.is_blank(segment)
    }
    return [
        place
        for place in _definitions(file, parts)
        if not is_locked(file.tokens[place])
        and read_attributes(file.tokens[place].raw).get("id") not in done
    ]


def _definitions(file: _File, parts: Mapping[str, _Part]) -> list[int]:
    """Find the tags by which Trados says something of each segment of a unit."""
    if (all_of_them := parts.get("seg-defs")) is None:
        return []
    return [
        place
        for place in range(all_of_them.opening, all_of_them.closing)
        if local_name(file.tokens[place]) == "seg" and file.tokens[place].kind != "close"
    ]


def _fill(
    file: _File, opening: int, parts: Mapping[str, _Part], reader: TextReader
) -> Iterator[Edit]:
    """Write the translation of a unit, or of those of its segments that have none."""
    source, target = parts.get("source"), parts.get("target")
    if source is None or file.is_blank(source):
        return
    origin = parts.get("seg-source", source)
    segments, locked = _segments(file, origin), _locked_segments(file, parts)
    if segments and locked.issuperset(dict(segments)):
        return
    lines = file.keeps_lines(source.opening)
    translate = partial(_translate, file, reader=reader, lines=lines)
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
        for name, part in _segments(file, target)
        if name in origins and name not in locked and file.is_blank(part)
    ]
    if blank:
        yield Edit(file.starts[target.opening], file.starts[target.opening + 1], tag)
    for name, part in blank:
        yield Edit(*file.span(part), translate(origins[name], _unclosed(file, part) + ">"))


def _is_undone(file: _File, unit: int, target: _Part) -> bool:
    """Tell whether a copy of the source is a target for somebody to write over."""
    states = (
        read_attributes(file.tokens[place].raw).get("state") for place in (unit, target.opening)
    )
    return any(state in _UNDONE for state in states)


def _locked_segments(file: _File, parts: Mapping[str, _Part]) -> set[str]:
    """Return the names of the segments of a unit that Trados has locked."""
    tags = [file.tokens[place] for place in _definitions(file, parts)]
    return {read_attributes(tag.raw).get("id", "") for tag in tags if is_locked(tag)}


def _unclosed(file: _File, part: _Part) -> str:
    """Return the tag of an element, without its end."""
    return file.tokens[part.opening].raw.rstrip("/> \t\r\n")


def _segments(file: _File, part: _Part) -> list[tuple[str, _Part]]:
    """Find the segments into which a source or a target is divided, with their names."""
    segments: list[tuple[str, _Part]] = []
    place = part.opening + 1
    while place < part.closing:
        token = file.tokens[place]
        attributes = read_attributes(token.raw) if local_name(token) == "mrk" else {}
        if attributes.get("mtype") == "seg":
            segments.append((attributes.get("mid", ""), _Part(place, file.end(place))))
            place = segments[-1][1].closing
        place += 1
    return segments


def _translate_all(
    file: _File,
    part: _Part,
    tag: str,
    *,
    translate: Callable[[_Part, str], Passage],
    locked: Collection[str],
) -> Passage:
    """Translate an element, or its segments if it is divided; what is between these stays.

    Locked ones are left empty.
    """
    start, edits = file.starts[part.opening + 1], list[Edit]()
    for name, segment in _segments(file, part):
        opening = _unclosed(file, segment) + ">"
        translation = (
            f"{opening}</{_name_in(opening)}>" if name in locked else translate(segment, opening)
        )
        begin, end = file.span(segment)
        edits.append(Edit(begin - start, end - start, translation))
    if not edits:
        return translate(part, tag)
    written = edit(file.inside(part), edits)
    return Rewritten(written, lambda found: f"{tag}{found}</{_name_in(tag)}>")


def _name_in(tag: str) -> str:
    """Return the name of an element with its prefix, as it was written."""
    return tag.lstrip()[1:].rstrip(">").split(maxsplit=1)[0]


def _translate(file: _File, part: _Part, tag: str, *, reader: TextReader, lines: bool) -> Passage:
    """Translate the content of an element, and write it behind a tag.

    Text of a program, whose own tags and escapes are text in XML, is read like any string, and so
    is one whose lines are to be preserved, unless it is from Phrase.
    """
    name, inside = _name_in(tag), file.inside(part)
    text = unescape(inside)
    is_string = _has_tags(text) or (lines and not _IN_BRACES.search(inside))
    if file.is_text(part) and is_string:
        # An XML reader takes no notice of a carriage return that is not written as an entity.
        carriage_return = "\r" if "\r" in inside else "&#13;"
        string = read_choices(text, reader.read_string)
        return Rewritten(
            string,
            lambda found: (
                tag + escape(found, quote=False).replace("\r", carriage_return) + f"</{name}>"
            ),
        )
    shown, placeholders = _show(file, part)
    write = partial(_write, placeholders=placeholders, before=tag, after=f"</{name}>")
    return Rewritten(
        read_choices(shown, partial(reader.read_markup, rules=_RULES, lines=lines)), write
    )


def _has_tags(text: str) -> bool:
    """Tell whether a text has tags or escapes of its own, besides words such as `<name>`."""
    return is_marked_up(_WORD.sub(lambda word: word[0] if _is_of_html(word[1]) else "", text))


def _is_of_html(name: str) -> bool:
    return name.lower() in STRING.inline | STRING.block


class _Placeholder(NamedTuple):
    """Something of the program, and whether it stands right beside a word."""

    raw: str
    after_word: bool = False
    before_word: bool = False


def _show(file: _File, part: _Part) -> tuple[str, dict[str, _Placeholder]]:
    """Write placeholders in a way that a translation keeps.

    The model takes one for a part of the word beside it, so they are put apart. Those that are one
    of a pair are written as tags, which are not shown to it.

    Returns:
        The content of an element, and what each placeholder in it stands for.
    """
    content, placeholders = file.inside(part), dict[str, _Placeholder]()
    names = unused_names(content)
    shown, last = list[str](), " "
    place = part.opening + 1
    while place < part.closing:
        token, end = file.tokens[place], place
        if token.kind == "text":
            shown.append(_show_braces(token.raw, names, placeholders))
            last = token.raw[-1]
        elif not _is_placeholder(token):
            shown.append(token.raw)
        else:
            end = file.end(place)
            raw, name = file.text[file.starts[place] : file.starts[end + 1]], next(names)
            if pair := _pair(token):
                shown.append(f"<{pair}>{name}</{pair}>")
                placeholders[name] = _Placeholder(raw)
            else:
                after, before = last.isalnum(), file.first_letter(end + 1, part.closing).isalnum()
                shown.append(" " * after + name + " " * before)
                placeholders[name] = _Placeholder(raw, after, before)
                last = " "
        place = end + 1
    return "".join(shown), placeholders


def _show_braces(text: str, names: Iterator[str], placeholders: dict[str, _Placeholder]) -> str:
    """Write those tags in braces that are one of a pair as tags that the model is not shown."""
    unclosed, pairs = list[re.Match[str]](), dict[int, str]()
    for found in _IN_BRACES.finditer(text):
        if found["opening"]:
            unclosed.append(found)
        elif unclosed and unclosed[-1]["opening"] == found["closing"]:
            pairs |= {unclosed.pop().start(): "bpt", found.start(): "ept"}

    def write(found: re.Match[str]) -> str:
        if (pair := pairs.get(found.start())) is None:
            return found[0]
        placeholders[name := next(names)] = _Placeholder(found[0])
        return f"<{pair}>{name}</{pair}>"

    return _IN_BRACES.sub(write, text)


def _is_placeholder(token: Token) -> bool:
    """Tell whether an element has its place in a sentence; a line break is between two."""
    if token.kind == "void":
        return not breaks_line(token)
    return local_name(token) in _PLACEHOLDERS


def _pair(token: Token) -> str | None:
    """Return the name of a tag of native code that a placeholder is as good as, if there is one."""
    names = {local_name(token), read_attributes(token.raw).get("id", "")[: len("START_")]}
    return "bpt" if names & _OPENING else "ept" if names & _CLOSING else None


def _write(text: str, placeholders: Mapping[str, _Placeholder], before: str, after: str) -> str:
    """Write a target. A placeholder that was lost stands at its end, as a program needs it."""
    lost = dict(placeholders)

    def put_back(found: re.Match[str]) -> str:
        placeholder = placeholders.get(found["name"])
        if placeholder is None:
            return found[0]
        lost.pop(found["name"], None)
        space_before = "" if placeholder.after_word else found["before"]
        return space_before + placeholder.raw + ("" if placeholder.before_word else found["after"])

    written = _SHOWN.sub(put_back, text)
    return before + written + "".join(each.raw for each in lost.values()) + after


def _parts(file: _File, opening: int, closing: int) -> dict[str, _Part]:
    """Find the elements right inside a unit; alternatives and notes have their own, deeper ones."""
    parts: dict[str, _Part] = {}
    place = opening + 1
    while place < closing:
        token = file.tokens[place]
        end = file.end(place)
        if token.kind in ("open", "void"):
            parts.setdefault(local_name(token), _Part(place, end))
        place = end + 1
    return parts
