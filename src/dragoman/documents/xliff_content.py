"""What stands between the tags of an XLIFF element: text, and codes of another format in it."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape, unescape
from typing import NamedTuple

from dragoman.documents.choices import read_choices
from dragoman.documents.document import Rewritten
from dragoman.documents.xliff_file import Part, XliffFile
from dragoman.documents.xliff_marks import breaks_line, local_name, name_in, read_attributes
from dragoman.markup.document import is_marked_up
from dragoman.markup.passage import Passage
from dragoman.markup.placeholders import PLACEHOLDER, unused_names
from dragoman.markup.rules import STRING, Rules
from dragoman.markup.tags import Token
from dragoman.markup.text_reader import TextReader

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

_WORD = re.compile(r"<([a-zA-Z][\w.-]*)(?![^<>]*/>)[^<>]*>")
"""What may be a tag that begins an element, or a word in angle brackets."""

_IN_BRACES = re.compile(
    r"\{(?P<opening>[\w^]{1,4})(?:&gt;|>) | &lt;(?P<closing>[\w^]{1,4})\}", re.X
)
"""Tags around words as Phrase writes them."""

_SHOWN = re.compile(
    rf"""(?P<before>[ ]?) (?:<(?P<pair>[be]pt)>)? (?P<name>{PLACEHOLDER.pattern})
    (?(pair)</(?P=pair)>) (?P<after>[ ]?)""",
    re.VERBOSE,
)


def translate_content(
    file: XliffFile, part: Part, tag: str, *, reader: TextReader, lines: bool
) -> Passage:
    """Translate the content of an element, and write it behind a tag.

    Text of a program, whose own tags and escapes are text in XML, is read like any string, and so
    is one whose lines are to be preserved, unless it is from Phrase.
    """
    name, inside = name_in(tag), file.inside(part)
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


def _show(file: XliffFile, part: Part) -> tuple[str, dict[str, _Placeholder]]:
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
                after, before = last.isalnum(), _first_letter(file, end + 1, part.closing).isalnum()
                shown.append(" " * after + name + " " * before)
                placeholders[name] = _Placeholder(raw, after, before)
                last = " "
        place = end + 1
    return "".join(shown), placeholders


def _first_letter(file: XliffFile, place: int, end: int) -> str:
    """Return what is read first from one place to another, up to the next placeholder."""
    tokens = (file.tokens[i] for i in range(place, end))
    read = (each for each in tokens if each.kind == "text" or _is_placeholder(each))
    return next((token.raw[0] for token in read), "")


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
