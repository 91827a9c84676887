"""Markdown: paragraphs, headings, lists, quotes and tables; code and addresses stay."""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from dragoman.documents.document import Document, Edit, Rewritten, edit, line_break_of, unused_mark
from dragoman.documents.markdown_spans import (
    Say,
    as_written,
    meaning,
    read_spans,
    write_spans,
)
from dragoman.documents.page import Page
from dragoman.documents.paragraph import Inline, Paragraph
from dragoman.markup.passage import put_together_each
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Alternative, join

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?\1[ \t]*(?:\r?\n|\Z)")
"""Settings of a page, as YAML or TOML."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_HEADING = re.compile(r"[^#]*#{1,6}")
_STARTS_BLOCK = re.compile(r"[-+*](?!\S)|#{1,6}(?!\S)|>|[=-]+\s*\Z|`{3}|~{3}|<|\[[^\]]*\]:")
_STARTS_LIST = re.compile(r"(\d{1,9})([.)])(?!\S)")
_NOTE = re.compile(r"\[\^[^\]\s]+\]:")
"""The beginning of a note."""

_INDENT_OF_NOTE = 4
"""Of what belongs to a note besides its first paragraph; elsewhere that is code."""

_BEFORE_TAG = re.compile(rf"(?:[ \t]|[-+*](?=[ \t])|\d{{1,9}}[.)](?=[ \t])|{_NOTE.pattern})*(?=<)")
"""What may stand before the first tag of HTML: the sign of an item of a list, or of a note."""

_CODE = re.compile(r"(?<!`)(`++).*?(?<!`)\1(?!`)")

_NARROWEST = 40

Read = Callable[[str, Say], list[Inline]]
"""Takes a line of Markdown apart."""


def take_markdown_apart(text: str, reader: TextReader) -> Document:
    """Take a Markdown file apart: CommonMark, with tables, notes and tasks as on GitHub.

    A paragraph that was wrapped is wrapped again. HTML in a block of its own is read as a page.
    """
    parser, definitions = _parser(), dict[str, Any]()

    def read(line: str, say: Say) -> list[Inline]:
        (found,) = parser.parseInline(line, definitions)
        return read_spans(found.children or [], line, say)

    settings = _FRONT_MATTER.match(text)
    start = settings.end() if settings else 0
    lines = _LINE.findall(text, start)
    starts = list(accumulate(map(len, lines), initial=start))
    tokens = parser.parse(text[start:], definitions)
    line_break = line_break_of(text)
    edits = [
        Edit(place.start, place.end, _Text(place, line_break, read, reader))
        for place in _texts(tokens, lines, starts)
    ]
    for start, end in _pages(tokens, text, starts):
        edits.append(Edit(start, end, Page(text[start:end], reader)))
    return edit(text, sorted(edits, key=lambda each: each.start))


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock, reference

    def read_definition(state: StateBlock, first: int, last: int, silent: bool) -> bool:
        """Read the definition of a link; what begins like that of a note is none."""
        is_note = state.src.startswith("[^", state.bMarks[first] + state.tShift[first])
        return not is_note and reference(state, first, last, silent)

    def read_note(state: StateBlock, first: int, last: int, silent: bool) -> bool:
        """Read the definition of a note, which has text, as on GitHub."""
        start = state.bMarks[first] + state.tShift[first]
        sign = _NOTE.match(state.src, start, state.eMarks[first])
        is_too_deep = state.level >= parser.options["maxNesting"] - 1
        if sign is None or is_too_deep or state.is_code_block(first):
            return False
        if silent:  # it ends the paragraph before it
            return True
        before = state.bMarks[first], state.tShift[first], state.sCount[first]
        state.level += 1
        state.blkIndent += _INDENT_OF_NOTE
        state.bMarks[first] = sign.end()
        state.tShift[first] = state.skipSpaces(sign.end()) - sign.end()
        state.sCount[first] = state.blkIndent
        state.md.block.tokenize(state, first, last)
        state.blkIndent -= _INDENT_OF_NOTE
        state.level -= 1
        state.bMarks[first], state.tShift[first], state.sCount[first] = before
        return True

    parser = MarkdownIt("commonmark", {"store_labels": True}).enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", read_definition)
    parser.block.ruler.before(
        "reference", "note", read_note, {"alt": ["paragraph", "blockquote", "list"]}
    )
    parser.normalizeLink = str  # type: ignore[method-assign,assignment]
    parser.normalizeLinkText = str  # type: ignore[method-assign,assignment]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


class _Place(NamedTuple):
    """Where a text stands in a file."""

    content: str
    start: int
    end: int
    kind: str
    """What it is in: `paragraph`, `heading` with its signs before it, or a cell, `td` or `th`."""

    prefix: str = ""
    """What all lines but the first begin with, as in a list."""


def _pages(
    tokens: Sequence["Token"], text: str, starts: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Find HTML in blocks of its own; within a quote, signs would stand between its lines."""
    for token in tokens:
        if token.type == "html_block" and token.map:
            start, end = (starts[line] for line in token.map)
            if before := _BEFORE_TAG.match(text, start, end):
                yield before.end(), end


def _texts(
    tokens: Sequence["Token"], lines: Sequence[str], starts: Sequence[int]
) -> Iterator[_Place]:
    """Find the texts of paragraphs, headings and cells."""
    end_of_cell = 0
    for before, token in pairwise(tokens):
        if token.type != "inline" or token.map is None:
            continue
        kind = before.type.removesuffix("_open")
        first, line = token.map[0], lines[token.map[0]]
        if kind in ("td", "th"):
            written = token.content.replace("|", "\\|")
            start = starts[first] + line.index(written, max(0, end_of_cell - starts[first]))
            end_of_cell = start + len(written)
            yield _Place(token.content, start, end_of_cell, kind)
        elif before.markup.startswith("#"):
            signs = _HEADING.match(line)
            start = starts[first] + line.index(token.content, signs.end() if signs else 0)
            yield _Place(token.content, start, start + len(token.content), kind)
        else:
            yield _paragraph(token.content, first, lines, starts)


def _paragraph(content: str, first: int, lines: Sequence[str], starts: Sequence[int]) -> _Place:
    """Find the lines of a paragraph."""
    parts = content.split("\n")
    while not lines[first].rstrip().endswith(parts[0].strip()):
        first += 1  # which is blank, but not as Markdown understands it
    last = first + len(parts) - 1
    before, prefix = (
        lines[place].rstrip().removesuffix(part.strip())
        for place, part in ((first, parts[0]), (last, parts[-1]))
    )
    end = starts[last] + len(lines[last].rstrip())
    return _Place(content, starts[first] + len(before), end, "paragraph", prefix)


class _Text:
    """A text in a place of a file.

    What its pictures and links say besides, each on its own, is put where a mark stands meanwhile.
    """

    def __init__(self, place: _Place, line_break: str, read: Read, reader: TextReader) -> None:
        self._place, self._line_break = place, line_break
        self._read: Callable[[str], list[Inline]] = lambda line: read(line, as_written)
        self._mark = unused_mark(place.content)
        self._said: list[Rewritten] = []

        def say(raw: str, text: str, write: Callable[[str], str]) -> str:
            if not any(map(str.isalpha, text)):
                return raw
            self._said.append(Rewritten(reader.read_string(text), write))
            return f"{self._mark}{len(self._said) - 1};".ljust(len(raw), ";")  # for the lines

        widths = [len(line) for line in place.content.split("\n")]
        self._width = max(_NARROWEST, *widths) if len(widths) > 1 else None
        self._paragraph = Paragraph(read(place.content, say), reader)
        passages: list[Paragraph | Rewritten] = [self._paragraph, *self._said]
        self.pieces = [piece for passage in passages for piece in passage.pieces]

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translation with its links, code and emphasis."""
        num_pieces = len(self._paragraph.pieces)
        found, parts = self._paragraph.write(translations[:num_pieces])
        besides = put_together_each(self._said, translations[num_pieces:])
        written = write_spans(parts, self._read, self._escape)
        lines = [line for part in written.split("\n") for line in self._wrap(part)]
        text = f"{self._line_break}{self._place.prefix}".join(lines)
        text = re.sub(f"{self._mark}(\\d+);+", lambda mark: besides[int(mark[1])].text, text)
        if self._place.kind in ("td", "th"):
            text = text.replace("|", "\\|")
        return join([found, *besides], text)

    def _escape(self, text: str) -> str:
        """Keep a text from being a list, a heading or the like by how it begins or ends."""
        if self._place.kind == "heading":
            return re.sub(r"#\Z", r"\#", text)
        if self._place.kind == "paragraph":
            return "\n".join(map(self._escape_line, text.split("\n")))
        return text

    def _escape_line(self, line: str) -> str:
        if item := _STARTS_LIST.match(line):
            return f"{item[1]}\\{line[item.end(1) :]}"
        starts_block = _STARTS_BLOCK.match(line) and not self._starts_with_tag(line)
        return f"\\{line}" if starts_block else line

    def _starts_with_tag(self, text: str) -> bool:
        first = self._read(text)[0]
        return (first.around[0].start if first.around else str(first.thing)).startswith("<")

    def _wrap(self, text: str) -> list[str]:
        """Cut a text into lines of the width that it had, if it had lines; code is not cut."""
        if self._width is None:
            return [text]
        gap = 2 * self._mark
        uncut = _CODE.sub(lambda code: code[0].replace(" ", gap), text)
        lines = textwrap.wrap(uncut, self._width, break_long_words=False, break_on_hyphens=False)
        lines = [line.replace(gap, " ") for line in lines]
        is_safe = not any(
            _STARTS_BLOCK.match(line) or _STARTS_LIST.match(line) for line in lines[1:]
        )
        if is_safe and meaning(self._read("\n".join(lines))) == meaning(self._read(text)):
            return [*lines[:-1], lines[-1] + text[len(text.rstrip(" ")) :]] if lines else [text]
        return [text]
