"""How the kinds of text that clients send are taken apart."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from dragoman.documents.formats import TakeApart
from dragoman.markup.document import visible_text
from dragoman.markup.passage import Passage
from dragoman.markup.rules import Rules
from dragoman.markup.text_reader import TextReader


class Reader(NamedTuple):
    """How a kind of text is read."""

    take_apart: TakeApart

    visible: Callable[[str], str] = str
    """Returns what people read of it, from which its language is detected."""


def _for(reader: TextReader, *, sentences: bool) -> TextReader:
    """Cut into sentences only if the model and the client both want it."""
    return replace(reader, splits_sentences=reader.splits_sentences and sentences)


def plain_reader(*, lines: bool = True, sentences: bool = True) -> Reader:
    """Read text without tags, in which a line break separates texts, or is a space."""

    def take_apart(text: str, reader: TextReader) -> Passage:
        return _for(reader, sentences=sentences).read_plain(text, lines=lines)

    return Reader(take_apart)


def markup_reader(rules: Rules, *, sentences: bool = True) -> Reader:
    """Read HTML or XML; line breaks in it are spaces."""

    def take_apart(text: str, reader: TextReader) -> Passage:
        return _for(reader, sentences=sentences).read_markup(text, rules)

    return Reader(take_apart, partial(visible_text, rules=rules))


def document_reader(take_apart: TakeApart) -> Reader:
    """Read files of a kind; what is visible of one is what would be translated of it."""

    def visible(text: str) -> str:
        return " ".join(take_apart(text, _OF_ANY_LANGUAGE).pieces)

    return Reader(take_apart, visible)


_OF_ANY_LANGUAGE = TextReader("", "", splits_sentences=False)

PLAIN_TEXT = plain_reader()
HTML = markup_reader(Rules())
