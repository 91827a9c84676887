"""What stands in a line of Markdown: text with emphasis, links, code, pictures and tags."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby, takewhile
from typing import TYPE_CHECKING, NamedTuple

from dragoman.documents.paragraph import Inline
from dragoman.markup.rules import Rules
from dragoman.markup.spacing import unwrap
from dragoman.markup.tags import Token as Tag
from dragoman.markup.tags import read_tokens

if TYPE_CHECKING:
    from markdown_it.token import Token

_EMPHASES = ("em", "strong", "s")
_WRITTEN_ALIKE = ("text", "softbreak", "html_inline")

_REMARK = re.compile(r"\[!\w+\]")
"""Such as `[!NOTE]`, which stands on a line of its own."""

_BEGINNING = re.compile(rf"\[[ xX]\](?=\s)|{_REMARK.pattern}")
_NOTE = re.compile(r"\[\^[^\]\s]+\]")
"""Boxes of tasks and remarks, which begin a line, and marks of notes: the parser takes all for
text."""

_UNTRANSLATED = Rules().untranslated
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)++)\]", re.DOTALL)
_SPECIAL = re.compile(r"[\\`*_\[\]<>&~!]")


class Mark(NamedTuple):
    """What stands around words, such as two asterisks or a link."""

    number: int
    """Which of its sentence it is, so that two neighbours stay two."""

    kind: str
    start: str
    end: str

    label: str = ""
    """Of the definition that a link leads to, which need not be repeated if it is the words."""


Say = Callable[[str, str, Callable[[str], str]], str]
"""Chooses what is written for what a picture or a link says besides its words: as it was written,
the text of that, and how another text is written."""


def as_written(raw: str, text: str, write: Callable[[str], str]) -> str:
    """Keep what a picture or a link says."""
    return raw


class _Written(NamedTuple):
    """What the parser does not say of how a line is written, and what is written instead."""

    content: str
    """The line."""

    hard_break: str
    labels: dict[str, str]
    """Of links to definitions, by what the parser calls them: without regard to case."""

    say: Say


def read_spans(tokens: Sequence["Token"], content: str, say: Say) -> list[Inline]:
    """Take the parts of a line apart.

    Args:
        tokens: What `markdown_it` has found in it.
        content: The line.
        say: Chooses the texts of pictures, and the titles of pictures and links.
    """
    found = map(str.strip, _LABEL.findall(content))
    labels = {" ".join(label.casefold().split()): label for label in found if label}
    written = _Written(content, "\\\n" if "\\\n" in content else "  \n", labels, say)
    parts: list[Inline] = []
    around: list[Mark] = []
    tokens = list(_join_kept(_without_wraps(tokens)))
    tags = _pairs_of_tags(tokens)
    ends_of_tags = set(tags.values())
    for i, token in enumerate(tokens):
        place = token.type.rpartition("_")[2]
        if token.info == "auto":  # an address in angle brackets: two tokens, and it between them
            if place == "open":
                parts.append(Inline(tuple(around), thing=f"<{tokens[i + 1].content}>"))
        elif i and tokens[i - 1].info == "auto" and tokens[i - 1].type == "link_open":
            continue
        elif token.type == "softbreak" and _is_remark(parts):
            parts.append(Inline((), thing="\n", separates=True))
        elif i in ends_of_tags or place == "close":
            around.pop()
        elif i in tags or place == "open":
            around.append(_mark(i, token, tokens[tags.get(i, i)].content, written))
        else:
            parts += _read_one(token, tuple(around), written, begins=not parts)
    return parts


def _is_remark(parts: Sequence[Inline]) -> bool:
    return len(parts) == 1 and parts[0].separates and bool(_REMARK.fullmatch(parts[0].thing))


def _without_wraps(tokens: Sequence["Token"]) -> list["Token"]:
    """Leave out what wraps a line in a script without spaces; elsewhere a break is a space."""
    contents = ["", *(token.content for token in tokens), ""]
    return [
        token
        for token, before, after in zip(tokens, contents, contents[2:], strict=False)
        if token.type != "softbreak" or " " in unwrap(f"{before[-1:]}\n{after[:1]}")
    ]


def _join_kept(tokens: Sequence["Token"]) -> Iterator["Token"]:
    """Make one tag of each element that is not translated, as in `<kbd>Enter</kbd>`."""
    tags = _pairs_of_tags(tokens)
    end = 0
    for i, token in enumerate(tokens):
        if i < end:
            continue
        end = tags.get(i, i) + 1
        element = tokens[i:end]
        if i in tags and _is_kept(element):
            yield token.copy(content="".join(map(_write_kept, element)))
        else:
            yield token
            end = i + 1


def _is_kept(element: Sequence["Token"]) -> bool:
    """Tell whether an element stays, and is known as it was written."""
    if not all(each.type in _WRITTEN_ALIKE or each.tag in _EMPHASES for each in element):
        return False
    first, *inside = (_read_tag(each.content) for each in element if each.type == "html_inline")
    return (first.marked or first.name in _UNTRANSLATED) and not any(tag.asked for tag in inside)


def _read_tag(tag: str) -> Tag:
    return read_tokens(tag, is_xml=False, is_string=False)[0]


def _write_kept(token: "Token") -> str:
    if token.type == "softbreak":
        return " "
    return _escape(token.content) if token.type == "text" else token.markup or token.content


def _mark(number: int, token: "Token", end: str, written: _Written) -> Mark:
    if token.type == "html_inline":
        return Mark(number, token.content, token.content, end)
    if token.type == "link_open":
        target = _target(token, "href", written)
        label = target[1:-1] if "label" in token.meta else ""
        return Mark(number, f"link {target.casefold()}", "[", f"]{target}", label)
    return Mark(number, token.tag, token.markup, token.markup)


def _read_one(
    token: "Token", around: tuple[Mark, ...], written: _Written, *, begins: bool
) -> Iterator[Inline]:
    """Read text, or something that is no text and has none in it."""
    if token.type == "text":
        yield from _read_text(token.content, around, written.content, begins=begins)
    elif token.type == "softbreak":
        yield Inline(around, " ", _form(around))
    elif token.type == "hardbreak":
        yield Inline(around, thing=written.hard_break, separates=True)
    elif token.type == "code_inline":
        edges, is_blank = (token.content[:1], token.content[-1:]), not token.content.strip()
        space = " " if "`" in edges or (edges == (" ", " ") and not is_blank) else ""
        yield Inline(around, thing=token.markup + space + token.content + space + token.markup)
    elif token.type == "image":
        shown = written.say(token.content, _text_of_picture(token), _write_text_of_picture)
        yield Inline(around, thing=f"![{shown}]{_target(token, 'src', written)}")
    else:
        yield Inline(around, thing=token.content, separates=token.content.startswith("<br"))


def _form(around: tuple[Mark, ...]) -> str:
    return str(around[-1].number) if around else ""


def _read_text(
    text: str, around: tuple[Mark, ...], content: str, *, begins: bool
) -> Iterator[Inline]:
    beginning = _BEGINNING.match(content) if begins else None
    notes = (note for note in _NOTE.finditer(text) if "\\" + note[0].rstrip("]") not in content)
    end = 0
    for sign in [*([beginning] if beginning else []), *notes]:
        if sign.start() > end:
            yield Inline(around, text[end : sign.start()], _form(around))
        yield Inline(around, thing=sign[0], separates=not sign[0].startswith("[^"))
        end = sign.end()
    if end < len(text):
        yield Inline(around, text[end:], _form(around))


def _target(token: "Token", attribute: str, written: _Written) -> str:
    """Write where a link leads: to an address, or to a definition elsewhere in the file."""
    if label := token.meta.get("label"):
        return f"[{written.labels.get(label.casefold(), label)}]"
    address, title = str(token.attrs[attribute]), token.attrs.get("title")
    is_unclear = not address and title is not None  # the title would be taken for the address
    if is_unclear or re.search(r"[\s()<>]|\\(?![A-Za-z0-9])", address):
        address = "<" + re.sub(r"([<>\\])", r"\\\1", address) + ">"
    if title is None:
        return f"({address})"
    return f'({address} "{written.say(_write_title(str(title)), str(title), _write_title)}")'


def _write_title(title: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", title)


def _text_of_picture(token: "Token") -> str:
    """Return what is read where a picture is not seen; emphasis in it means nothing."""
    children = token.children or []
    return "".join(" " if child.type.endswith("break") else child.content for child in children)


def _write_text_of_picture(text: str) -> str:
    return re.sub(r"[\[\]\\`<]", r"\\\g<0>", text)


def _pairs_of_tags(tokens: Sequence["Token"]) -> dict[int, int]:
    """Find the tags around words, such as `<b>` and `</b>`; others are things."""
    pairs: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    for i, token in enumerate(tokens):
        if token.type.endswith("_open"):
            opened.append(("", i))
        elif token.type.endswith("_close"):
            while opened and opened.pop()[0]:
                pass
        elif token.type == "html_inline":
            tag = _read_tag(token.content)
            if tag.kind == "open":
                opened.append((tag.name, i))
            elif tag.kind == "close" and opened and opened[-1][0] == tag.name:
                pairs[opened.pop()[1]] = i
    are_said = (bool(t.content.strip()) and t.type != "html_inline" for t in tokens)
    num_said = list(accumulate(are_said))
    return {start: end for start, end in pairs.items() if num_said[end] > num_said[start]}


def write_spans(
    parts: Sequence[Inline], read: Callable[[str], Sequence[Inline]], escape: Callable[[str], str]
) -> str:
    """Write a line whose parts are found in it again.

    As few signs are escaped as do for that. Where emphasis cannot be written, as within a word in
    some positions, it is left out.

    Args:
        parts: What it says.
        read: Reads a line.
        escape: Adds the escapes that the place of the line needs.
    """
    plain = [
        part._replace(around=tuple(m for m in part.around if m.kind not in _EMPHASES))
        for part in parts
    ]
    for wanted, escape_text in ((parts, str), (parts, _escape), (plain, str), (plain, _escape)):
        written = escape(_join(wanted, escape_text))
        if meaning(read(written)) == meaning(wanted):
            return written
    return written


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def meaning(parts: Iterable[Inline]) -> list[tuple[bool, tuple[str, ...], str]]:
    """Describe what a line says, white space aside, for comparison with another."""
    described: list[tuple[bool, tuple[str, ...], str]] = []
    for is_text, group in groupby(parts, key=lambda part: part.text is not None):
        for around, same in groupby(group, key=lambda part: tuple(m.kind for m in part.around)):
            text = "".join(part.thing if part.text is None else part.text for part in same)
            if not is_text or text.split():
                described.append((is_text, around, " ".join(text.split()) if is_text else text))
    return described


def _join(parts: Iterable[Inline], escape: Callable[[str], str]) -> str:
    """Write parts with their marks, and white space outside of them, where it has to be."""
    written: list[str] = []
    opened: list[Mark] = []
    starts: list[int] = []
    space = ""

    def close(num_kept: int) -> None:
        while len(opened) > num_kept:
            mark, words = opened.pop(), "".join(written[starts.pop() :]).split()
            written.append("][]" if mark.label and words == mark.label.split() else mark.end)

    for part in parts:
        text = part.thing if part.text is None else part.text
        core = text if part.text is None else text.strip()
        start, _, end = text.partition(core) if core else (text, "", "")
        space += start
        if not core:
            continue
        pairs = takewhile(lambda pair: pair[0] is pair[1], zip(opened, part.around, strict=False))
        close(len(list(pairs)))
        written.append(space)
        for mark in part.around[len(opened) :]:
            written.append(mark.start)
            opened.append(mark)
            starts.append(len(written))
        written.append(core if part.text is None else escape(core))
        space = end
    close(0)
    return "".join([*written, space])
