r"""The entries of gettext's PO files, each with the places where an editor would change it."""

import re
from collections.abc import Iterator, Sequence
from gettext import c2py
from typing import NamedTuple

from dragoman.errors import DragomanError

FUZZY = "fuzzy"
"""The flag of an entry whose translation nobody has confirmed."""

_ESCAPES = dict(zip('abfnrtv\\"', '\a\b\f\n\r\t\v\\"', strict=True))
_ESCAPED = str.maketrans({character: f"\\{letter}" for letter, character in _ESCAPES.items()})

_BLANK = r"[ \t\r\f\v]*"
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_LINE = re.compile(
    rf"{_BLANK}(?P<keyword>(?:msgctxt|msgid_plural|msgid|msgstr)\b)?"
    rf"(?:{_BLANK}\[{_BLANK}(?P<form>[0-9]{{1,3}}){_BLANK}\])?"
    rf"(?P<strings>(?:{_BLANK}{_STRING})*){_BLANK}(?:#.*)?"
)
_COMMENT = re.compile(rf"{_BLANK}#(?P<kind>.?)(?P<text>.*)")
_ESCAPE = re.compile(r"(?P<bytes>(?:\\(?:[0-7]{1,3}|x[0-9A-Fa-f]+))+)|\\(?P<letter>.)")
_UTF_8 = ("utf-8", "utf8", "ascii", "us-ascii", "charset")
"""The last is what a template has until somebody begins to translate."""

_FLAG_SEPARATORS = re.compile(r"[,\s]+")


class PoError(DragomanError):
    """A text is not PO."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason = line, reason


class Entry(NamedTuple):
    """A text of a program and its translation. Places are offsets into the text that was read."""

    line: int
    """The line of its `msgid`, from 1."""
    id: str
    """What the program shows where there is no translation; of the header, nothing."""
    plural: str | None
    """What it shows for several things, if it counts something."""
    translations: tuple[str, ...]
    """One, or one for each form of the plural; empty where it is not translated."""
    is_fuzzy: bool
    """Whether the translation is marked as not confirmed."""
    flags: int | None
    """Where its flags begin, after `#,`; if there are several such lines, in the first."""
    keyword: int
    """The line of its `msgctxt`, or else of its `msgid`: where its comments end."""
    strings: tuple[tuple[int, int], ...]
    """From each `msgstr` to the last quotation mark of its text."""
    context: str | None = None
    """What tells it from another entry of the same text."""

    @property
    def is_header(self) -> bool:
        """Whether the translation describes the file."""
        return not self.id and self.context is None


def read_entries(text: str) -> Iterator[Entry]:
    r"""Yield the entries of a PO file, its header included and its obsolete ones (`#~`) left out.

    Raises:
        PoError: a line is not PO, or a part of an entry is missing.

    >>> [(entry.id, entry.translations) for entry in read_entries('msgid "a\\n"\nmsgstr "b"')]
    [('a\n', ('b',))]
    """
    comments, parts = _Comments(), list[_Part]()
    for line in _lines(text):
        if (comment := _COMMENT.match(text, line.start, line.end)) is not None:
            if parts:
                yield _entry(parts, comments)
                comments, parts = _Comments(), []
            comments = comments.followed_by(comment)
        elif (part := _part(text, line)) is not None:
            if parts and _begins_an_entry(part, parts[-1]):
                yield _entry(parts, comments)
                comments, parts = _Comments(), []
            parts.append(part)
        else:
            _continue(parts, text, line)
    if parts:
        yield _entry(parts, comments)


def header_fields(header: Entry) -> dict[str, str]:
    """Return what a header says, such as its `language`, by names in lower case."""
    lines = (line.partition(":") for line in header.translations[0].split("\n"))
    return {name.strip().lower(): value.strip() for name, colon, value in lines if colon}


def other_charset(header: Entry) -> str | None:
    """Return the encoding that a header names, if that is not UTF-8 or a part of it."""
    found = re.search(
        r"charset=([^\s;]+)", header_fields(header).get("content-type", ""), re.IGNORECASE
    )
    return None if found is None or found[1].lower() in _UTF_8 else found[1]


def plural_form(plural_forms: str, number: int, num_forms: int, default: int) -> int:
    """Return which form goes with a number of things, from 0.

    Args:
        plural_forms: What a header says, with a formula in C.
        number: How many things.
        num_forms: How many forms the entry has.
        default: The answer if the formula gives none of them.

    >>> plural_form("nplurals=3; plural=n==0 ? 0 : n==1 ? 1 : 2;", 1, 3, 0)
    1
    """
    found = re.search(r"\bplural\s*=([^;]*)", plural_forms)
    try:
        form = c2py(found[1])(number) if found else default
    except (ValueError, ArithmeticError):  # it cannot be read, or computed
        return default
    return form if 0 <= form < num_forms else default


def escape(text: str) -> str:
    r"""Write a text as it stands between quotation marks.

    >>> print(escape('a "b"\n'))
    a \"b\"\n
    """
    return text.translate(_ESCAPED)


class _Line(NamedTuple):
    """A line, without the line feed that ends it."""

    number: int
    start: int
    end: int


class _Comments(NamedTuple):
    """What the comments before an entry say."""

    flags: int | None = None
    is_fuzzy: bool = False

    def followed_by(self, comment: re.Match[str]) -> "_Comments":
        """Read a comment, which may be one of an obsolete entry, whose comments these were then."""
        kind = comment["kind"]
        if kind == "~":
            return _Comments()
        if kind not in (",", "="):
            return self
        flags = comment.start("text") if kind == "," and self.flags is None else self.flags
        return _Comments(flags, self.is_fuzzy or FUZZY in _FLAG_SEPARATORS.split(comment["text"]))


class _Part:
    """A keyword of an entry with its text."""

    def __init__(self, match: re.Match[str], line: _Line) -> None:
        form = match["form"]
        self.name: str = match["keyword"] if form is None else f"{match['keyword']}[{int(form)}]"
        self.line, self.line_start = line.number, line.start
        self.start = match.start("keyword")
        self.end = match.end("strings")
        self.texts: list[str] | None = None
        self.add(match, line.number)

    def add(self, match: re.Match[str], line: int) -> None:
        """Continue the text with the strings of a line."""
        if match["strings"]:
            self.texts = self.texts or []
            self.texts += (_unescape(string, line) for string in _strings(match["strings"]))
            self.end = match.end("strings")

    @property
    def text(self) -> str:
        if self.texts is None:
            raise PoError(self.line, f"no text in quotation marks follows {self.name}")
        return "".join(self.texts)


def _lines(text: str) -> Iterator[_Line]:
    """Find the lines that are not blank."""
    start = len(text) - len(text.removeprefix("\ufeff"))  # editors of Windows write a mark first
    number = 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if text[start:end].strip(" \t\r\f\v"):
            yield _Line(number, start, end)
        start, number = end + 1, number + 1


def _part(text: str, line: _Line) -> _Part | None:
    """Read a line that begins with a keyword; None for one that continues a text."""
    match = _match(text, line)
    if match["keyword"] is None:
        return None
    if match["form"] is not None and match["keyword"] != "msgstr":
        raise PoError(line.number, f"only msgstr has a number in brackets, not {match['keyword']}")
    return _Part(match, line)


def _continue(parts: Sequence[_Part], text: str, line: _Line) -> None:
    """Add the strings of a line to the text that the lines before it began."""
    match = _match(text, line)
    if match["form"] is not None or not match["strings"]:
        raise PoError(line.number, _NO_PO)
    if not parts:
        raise PoError(line.number, "a text stands before any msgid that it would belong to")
    parts[-1].add(match, line.number)


_NO_PO = (
    "what is no comment (#) begins with msgctxt, msgid, msgid_plural or msgstr, or is text in "
    "quotation marks"
)


def _match(text: str, line: _Line) -> re.Match[str]:
    """Match a line that is no comment."""
    match = _LINE.match(text, line.start, line.end)
    if match is None or match.end() != line.end:
        rest = text[match.end() if match else line.start : line.end].lstrip()
        is_open = rest.startswith('"')
        raise PoError(line.number, "a quotation mark is not closed" if is_open else _NO_PO)
    return match


def _strings(strings: str) -> list[str]:
    """Return what stands between the quotation marks of each string."""
    return [string[1:-1] for string in re.findall(_STRING, strings)]


def _unescape(string: str, line: int) -> str:
    """Replace the escapes of a string, those of bytes by the characters they encode in UTF-8."""

    def character(match: re.Match[str]) -> str:
        if (letter := match["letter"]) is None:
            return _decode(match["bytes"], line)
        if letter not in _ESCAPES:
            raise PoError(line, rf"\{letter} stands for nothing; a backslash is written \\")
        return _ESCAPES[letter]

    return _ESCAPE.sub(character, string)


def _decode(escapes: str, line: int) -> str:
    """Read the bytes that octal and hexadecimal numbers stand for."""
    numbers = (
        int(escaped[1:], 16) if escaped[0] == "x" else int(escaped, 8)
        for escaped in escapes[1:].split("\\")
    )
    try:
        return bytes(numbers).decode()
    except ValueError:  # a number above 255, or bytes that are no UTF-8
        raise PoError(line, f"{escapes} stands for no character of UTF-8") from None


def _begins_an_entry(part: _Part, before: _Part) -> bool:
    """Tell whether a part is of another entry than the one before it."""
    return part.name == "msgctxt" or (part.name == "msgid" and before.name != "msgctxt")


def _entry(parts: Sequence[_Part], comments: _Comments) -> Entry:
    """Put an entry together.

    Raises:
        PoError: a part is missing, or stands where another is due.
    """
    has_context = parts[0].name == "msgctxt"
    body = parts[has_context:]
    has_plural = len(body) > 1 and body[1].name == "msgid_plural"
    strings = body[1 + has_plural :]
    due = [f"msgstr[{form}]" for form in range(max(1, len(strings)))] if has_plural else ["msgstr"]
    _require(["msgid", *["msgid_plural"] * has_plural, *due], body, parts[-1])
    return Entry(
        line=body[0].line,
        id=body[0].text,
        plural=body[1].text if has_plural else None,
        translations=tuple(part.text for part in strings),
        is_fuzzy=comments.is_fuzzy,
        flags=comments.flags,
        keyword=parts[0].line_start,
        strings=tuple((part.start, part.end) for part in strings),
        context=parts[0].text if has_context else None,
    )


def _require(due: Sequence[str], body: Sequence[_Part], last: _Part) -> None:
    """Refuse an entry that has other parts than those that are due."""
    for name, part in zip(due, body, strict=False):
        if part.name != name:
            raise PoError(part.line, f"{part.name} stands where {name} is due")
    if len(due) > len(body):
        raise PoError(last.line, f"{last.name} is not followed by {due[len(body)]}")
    if len(body) > len(due):
        extra = body[len(due)]
        raise PoError(extra.line, f"{extra.name} stands in an entry that is whole")
