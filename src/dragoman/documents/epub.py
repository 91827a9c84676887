"""Books in EPUB: an archive of pages, a table of contents and a description."""

import re
from collections.abc import Iterator
from functools import partial
from html import escape, unescape

from dragoman.documents.archive import END
from dragoman.documents.document import Edit, Rewritten, edit, join_with
from dragoman.documents.languages import direction_of, is_of_source, turns
from dragoman.documents.page import Page
from dragoman.languages.codes import language_tag
from dragoman.languages.scripts import loses_columns
from dragoman.markup.passage import Passage
from dragoman.markup.rules import Rules
from dragoman.markup.text_reader import TextReader

_PAGE = re.compile(r"<html[\s>]", re.IGNORECASE)
_CONTENTS = re.compile(r"<(?:\w+:)?ncx[\s>]")
_DESCRIPTION = re.compile(r"<(?:\w+:)?package[\s>]")
_SAID_OF_BOOK = re.compile(r"<dc:(title|description|subject|language)\b[^<>]*>([^<]*)</dc:\1>")

_LANGUAGE = re.compile(r"""(?<=\sxml:lang=["'])[\w-]+(?=["'])""")

_OF_VERSION_3 = re.compile(r"""<(?:\w+:)?package\b[^<>]*\sversion=["']3""")
_SPINE = re.compile(r"<(?:\w+:)?spine\b")
_PROGRESSION = re.compile(r"""\spage-progression-direction=["'][\w-]*["']""")
"""To which side pages are turned; earlier versions cannot say it."""

_IN_COLUMNS = re.compile(rf"""{_SPINE.pattern}[^<>]*\spage-progression-direction=["']rtl""")
_IS_FIXED = re.compile(r">\s*pre-paginated\s*<")
"""Of pages that are drawn, as in comics: their order is that of their pictures."""

_HEAD_END = re.compile(r"</head\s*>", re.IGNORECASE)
_IN_LINES = "".join(
    f"{prefix}writing-mode: horizontal-tb !important; " for prefix in ("-epub-", "-webkit-", "")
)
_STYLE = f"<style>html, body, body * {{ {_IN_LINES}}}</style>"

_UNTRANSLATED = ("docauthor", "head", "pagelist")
_RULES_OF_CONTENTS = Rules(
    is_xml=True,
    untranslated=frozenset(prefix + name for name in _UNTRANSLATED for prefix in ("", "ncx:")),
)


def take_epub_apart(text: str, reader: TextReader) -> Passage:
    """Take the files of a book apart, as `read_archive` returns them."""
    lies_down = (
        loses_columns(reader.source, reader.target)
        and _IN_COLUMNS.search(text) is not None
        and _IS_FIXED.search(text) is None
    )
    return join_with(END, [_take_part_apart(part, reader, lies_down) for part in text.split(END)])


def _take_part_apart(part: str, reader: TextReader, lies_down: bool) -> str | Passage:
    if _PAGE.search(part):
        if lies_down:
            part = _HEAD_END.sub(rf"{_STYLE}\g<0>", part, count=1)
        return Page(part, reader)
    if _CONTENTS.search(part):  # of EPUB 2; later ones are pages
        return reader.read_markup(_with_new_language(part, reader), _RULES_OF_CONTENTS)
    if _DESCRIPTION.search(part):
        part = _with_new_language(_turned(part, reader, lies_down), reader)
        return edit(part, list(_find_edits(part, reader)))
    return part


def _with_new_language(part: str, reader: TextReader) -> str:
    """Name the new language where the old one was named."""
    tag = language_tag(reader.target)
    return _LANGUAGE.sub(lambda found: tag if is_of_source(found[0], reader) else found[0], part)


def _turned(description: str, reader: TextReader, lies_down: bool) -> str:
    """Let the pages of a book be turned to the other side if its text runs to it now."""
    if not ((lies_down or turns(reader)) and _OF_VERSION_3.search(description)):
        return description
    said = rf'\g<0> page-progression-direction="{direction_of(reader.target)}"'
    return _SPINE.sub(said, _PROGRESSION.sub("", description))


def _find_edits(description: str, reader: TextReader) -> Iterator[Edit]:
    """Find what the description of a book says to readers, and its language."""
    for found in _SAID_OF_BOOK.finditer(description):
        said = unescape(found[2])
        if found[1] != "language":
            write = partial(escape, quote=False)
            yield Edit(*found.span(2), Rewritten(reader.read_string(said), write))
        elif is_of_source(said.strip(), reader):
            yield Edit(*found.span(2), language_tag(reader.target))
