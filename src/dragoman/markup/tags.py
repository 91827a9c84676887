"""HTML and XML as a row of tokens that, put together, are the document."""

import re
from contextlib import suppress
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

Kind = Literal["text", "open", "close", "void", "wrap", "other"]

_VOID = "area base br col embed hr img input link meta param source track wbr"
"""Elements that have no end tag in HTML."""


class Token(NamedTuple):
    """A piece of a document."""

    kind: Kind
    raw: str
    """As it was written."""

    name: str = ""
    """Of a tag, in lower case."""

    marked: bool = False
    """Whether an attribute asks not to translate what is inside."""


def read_tokens(document: str, *, is_xml: bool = False, is_string: bool = False) -> list[Token]:
    """Read a document, or a part of one, that may have mistakes; no character is lost.

    What follows a tag or a comment that never ends is one token of kind "other". In XML no name of
    an element says that it has no end tag, or that what is inside is no markup; in a string of a
    program it says the latter only if there is an end tag.
    """
    reader = _Reader(document, is_xml=is_xml, is_string=is_string)
    # Entities are no concern of tokens. The parser is not told that this is the end, as it would
    # then look for the end of each thing that has none, which takes a minute for 100,000 letters.
    with suppress(AssertionError):  # which is what it thinks of "<![x["
        reader.feed((_hide_subset(document) if is_xml else document).replace("&", "."))
    reader.mark("other")
    tokens: list[Token] = []
    for (start, token), (end, _) in pairwise([*reader.marks, (len(document), Token("other", ""))]):
        raw = document[start:end]
        if token.kind == "text" and tokens and tokens[-1].kind == "text":
            tokens[-1] = Token("text", tokens[-1].raw + raw)
        elif raw:
            tokens.append(token._replace(raw=raw))
    return tokens


_SUBSET = re.compile(
    r"""<!DOCTYPE\b[^\[>]*+ (?P<subset> \[ (?: [^\]"']++ | "[^"]*+" | '[^']*+' )*+ \] ) \s*+ >""",
    re.VERBOSE,
)
"""A declaration of XML that has others within, whose `>` are not its end."""


def _hide_subset(document: str) -> str:
    """Write spaces for what is declared within the first declaration, lines kept."""
    found = _SUBSET.match(document, max(0, document.find("<!DOCTYPE")))
    if found is None:
        return document
    blank = "".join("\n" if character == "\n" else " " for character in found["subset"])
    return document[: found.start("subset")] + blank + document[found.end("subset") :]


class _Reader(HTMLParser):
    """Notes where each thing begins that the parser finds; it ends where the next one begins."""

    def __init__(self, document: str, *, is_xml: bool, is_string: bool) -> None:
        super().__init__(convert_charrefs=False)
        self.marks: list[tuple[int, Token]] = [(0, Token("text", ""))]
        self._is_xml = is_xml
        self._lower = document.lower() if is_string else None
        self._line_starts = [0, *accumulate(len(line) + 1 for line in document.split("\n"))]

    def mark(self, kind: Kind, name: str = "", *, marked: bool = False) -> None:
        """Note that something begins here."""
        self.marks.append((self._place(), Token(kind, "", name, marked)))

    def _place(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def set_cdata_mode(self, elem: str, **how: bool) -> None:
        """Begin an element like a script of HTML, in which there are no tags."""
        is_closed = self._lower is None or self._lower.rfind(f"</{elem}") > self._place()
        if not self._is_xml and is_closed:
            super().set_cdata_mode(elem, **how)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        marked = (values.get("translate") or "").lower() == "no" or "notranslate" in classes
        is_void = tag in _VOID.split() and not self._is_xml
        self.mark("void" if is_void else "open", tag, marked=marked)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.mark("void", tag)

    def handle_endtag(self, tag: str) -> None:
        self.mark("close", tag)

    def handle_data(self, data: str) -> None:
        self.mark("text")

    def handle_comment(self, data: str) -> None:
        self.mark("other")

    def handle_decl(self, decl: str) -> None:
        self.mark("other")

    def handle_pi(self, data: str) -> None:
        self.mark("other")

    def unknown_decl(self, data: str) -> None:
        self.mark("other")
