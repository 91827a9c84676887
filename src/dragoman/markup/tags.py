"""HTML and XML as a sequence of tokens that, joined, are the document."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from dragoman.markup.templates import hide_templates, without_signs

Kind = Literal["text", "open", "close", "void", "wrap", "other"]

_VOID = "area base br col embed hr img input link meta param source track wbr"
"""Elements without an end tag in HTML."""


NOTE, ANCHOR = "note", "anchor"
"""The names of tokens for a whole element: the mark of a footnote, and a place that has no words of
its own, such as the target of a link or the beginning of a printed page."""

PICTURE, ICON = "picture", "icon"
"""The names of tokens for pictures: between words of a sentence, and beside all words of a tag."""

READINGS = ("rp", "rt", "rtc")
"""The names of elements that tell how the characters before them are pronounced, as in Japanese."""

CDATA, CDATA_END = "<![CDATA[", "]]>"


class Token(NamedTuple):
    """A piece of a document."""

    kind: Kind
    raw: str
    """As it was written."""

    name: str = ""
    """Of a tag, in lower case."""

    marked: bool = False
    """Whether an attribute asks not to translate what is inside."""

    asked: bool = False
    """Whether one asks to translate it, though it is in something that is not translated."""

    @property
    def is_comment(self) -> bool:
        """Whether it is no part of a sentence, though it may stand in one."""
        is_whole = self.name in (ANCHOR, ICON) or self.is_reading
        return self.kind == "other" and (is_whole or self.raw.startswith("<!--"))

    @property
    def is_reading(self) -> bool:
        """Whether it is kept beside the characters of which it tells the pronunciation."""
        return self.kind == "other" and self.name in READINGS

    @property
    def is_sign(self) -> bool:
        """Whether it stands in a sentence like a word that no language has."""
        return self.name in (NOTE, PICTURE)

    @property
    def is_cdata(self) -> bool:
        """Whether it is an XML section in which all characters are literal, or its end."""
        return self.raw.startswith(CDATA) and self.raw.endswith(CDATA_END)


def written(tokens: Iterable[Token]) -> str:
    """Return tokens as they were written."""
    return "".join(token.raw for token in tokens)


def find_ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Map the index of each opening tag to that of its closing tag."""
    ends: dict[int, int] = {}
    unclosed: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        if token.kind == "open":
            unclosed.setdefault(token.name, []).append(place)
        elif token.kind == "close" and unclosed.get(token.name):
            ends[unclosed[token.name].pop()] = place
    return ends


def read_tokens(document: str, *, is_xml: bool, is_string: bool) -> list[Token]:
    """Read a document, or a part of one, that may have errors; no character is lost.

    What follows a tag or a comment that never ends is one token of kind "other". In XML, no name of
    an element implies that it has no end tag, or that its content is not markup; in a string of a
    program a name implies the latter only if there is an end tag, words after "<", as in "if a
    <b then", are text, and the name of an element may be a number, as in "<0>here</0>".
    """
    reader = _Reader(document, is_xml=is_xml, is_string=is_string)
    shown = as_shown(document, is_xml=is_xml)
    # Entities do not matter to tokens. The parser is not told that this is the end, as it would
    # then look for the end of each thing that has none, which takes a minute for 100,000 letters.
    with suppress(AssertionError):  # which "<![x[" raises
        reader.feed((_show_tags_of_strings(shown) if is_string else shown).replace("&", "."))
    rest = document[reader.place() :]
    is_text = is_string and "=" not in rest and _WORDS.match(rest)
    reader.mark("text" if is_text else "other")
    tokens: list[Token] = []
    for (start, token), (end, _) in pairwise([*reader.marks, (len(document), Token("other", ""))]):
        raw = document[start:end]
        if token.kind == "text" and tokens and tokens[-1].kind == "text":
            tokens[-1] = Token("text", tokens[-1].raw + raw)
        elif raw:
            name = _name(raw) if token.name and (is_xml or is_string) else token.name
            tokens.append(token._replace(raw=raw, name=name))
    return tokens


def _name(tag: str) -> str:
    """Read the name of an element, whose first character may have been changed for the parser."""
    found = re.match(r"</?([^\s/>]+)", tag)
    return found[1].lower() if found else ""


_DOCTYPE = re.compile(
    r"""<!DOCTYPE\b (?: [^"'<>\[\]]++ | "[^"]*+" | '[^']*+' )*+
    (?: \[ (?: [^\]"']++ | "[^"]*+" | '[^']*+' )*+ \] \s*+ )? >""",
    re.VERBOSE,
)
"""An XML declaration that may contain others, whose `>` are not its end."""

_OPAQUE = {
    False: re.compile(
        r"<!--(?:.*?-->|.*) | (<\?(?:php\b|=))(?:.*?(\?>)|.*) | (<%)(?:.*?(%>)|.*)",
        re.VERBOSE | re.DOTALL,
    ),
    True: re.compile(
        r"<!--(?:.*?-->|.*) | (<\?)(?:.*?(\?>)|.*) | (<!\[CDATA\[)(?:.*?(\]\]>)|.*)",
        re.VERBOSE | re.DOTALL,
    ),
}
"""What may contain a `>` that is not its end, in HTML and in XML, or never ends. Comments are
skipped: the parser knows how they end."""

_WORDS = re.compile(r"<[^\W\d_]\w*\s+[^\W\d_]")
"""The beginning of what may not be a tag: attributes mostly have values."""

_ENDS_OF_BRACES = re.compile(r"<[\w^]{1,4}\}")

_OTHER_LETTER = re.compile(r"(</?)(?:(?![A-Za-z])[^\W\d]|:)")
"""A beginning of the name of an XML element that HTML would not allow."""


def as_shown(document: str, *, is_xml: bool) -> str:
    """Rewrite a document so that the parser, which is for HTML, finds where everything ends."""

    def hide_inside(found: re.Match[str]) -> str:
        if found.lastindex in (None, 1, 3):  # a comment, or never closed
            return found[0]
        begin = found[0][:2].replace("%", "?")  # the parser knows PHP, but not <% %>
        return begin + without_signs(found[0][2:-1]) + ">"

    shown = _OPAQUE[is_xml].sub(hide_inside, document)
    if not is_xml:
        return hide_templates(shown)
    if found := _DOCTYPE.match(shown, max(0, shown.find("<!DOCTYPE"))):
        inside = re.sub("[<>]", " ", shown[found.start() + 1 : found.end() - 1])
        shown = f"{shown[: found.start()]}<{inside}>{shown[found.end() :]}"
    return _OTHER_LETTER.sub(r"\1x", shown)


_NUMBERED = re.compile(r"(</?)(?=(\d+)\s*(/?)>)\d")


def _show_tags_of_strings(string: str) -> str:
    """Let names of elements that are numbers begin with a letter, as the parser expects.

    A number between such signs is text if it is neither an element without content nor closed. What
    ends a tag as Phrase writes it, such as `{b>here<b}`, begins none.
    """
    string = _ENDS_OF_BRACES.sub(lambda found: "." * len(found[0]), string)
    closed = {number for start, number, _ in _NUMBERED.findall(string) if start == "</"}
    return _NUMBERED.sub(
        lambda found: f"{found[1]}x" if found[3] or found[2] in closed else found[0], string
    )


class _Reader(HTMLParser):
    """Notes where each thing that the parser finds begins; it ends where the next one begins."""

    def __init__(self, document: str, *, is_xml: bool, is_string: bool) -> None:
        super().__init__(convert_charrefs=False)
        self.marks: list[tuple[int, Token]] = [(0, Token("text", ""))]
        self._is_xml = is_xml
        # The one letter that is longer in lower case would shift the positions after it.
        self._lower = document.replace("\u0130", ".").lower() if is_string else None
        self._line_starts = [0, *accumulate(len(line) + 1 for line in document.split("\n"))]

    def mark(
        self, kind: Kind, name: str = "", *, marked: bool = False, asked: bool = False
    ) -> None:
        """Note that something begins here."""
        self.marks.append((self.place(), Token(kind, "", name, marked, asked)))

    def place(self) -> int:
        """Tell how far the document is read."""
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def set_cdata_mode(self, elem: str, **how: bool) -> None:
        """Begin an element that contains no tags, such as a script in HTML."""
        is_closed = self._lower is None or self._lower.rfind(f"</{elem}") > self.place()
        if not self._is_xml and is_closed:
            super().set_cdata_mode(elem, **how)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        translate = (values.get("translate") or "").lower()
        marked = translate == "no" or "notranslate" in classes
        marked = marked or values.get("epub:type") == "page-list"  # numbers, some of them Roman
        marked = marked or values.get("mtype") == "protected"  # of XLIFF 1.2
        is_void = tag in _VOID.split() and not self._is_xml
        self.mark("void" if is_void else "open", tag, marked=marked, asked=translate == "yes")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.mark("void", tag)

    def handle_endtag(self, tag: str) -> None:
        self.mark("close", tag)

    def handle_data(self, data: str) -> None:
        self.mark("text")

    def handle_comment(self, data: str) -> None:
        self.mark("other")

    handle_pi = unknown_decl = handle_comment

    def handle_decl(self, decl: str) -> None:
        self.mark("other")
