"""How the kinds of text that clients send are taken apart."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from dragoman.markup.document import Markup, Rules, visible_text
from dragoman.markup.passage import Passage, PlainText
from dragoman.serving.models import ServedModel


class Reader(NamedTuple):
    """How a kind of text is read."""

    take_apart: Callable[[str, ServedModel], Passage]
    """Takes apart a text that a model is to translate."""

    visible: Callable[[str], str] = str
    """Returns what people read of it, from which its language is detected."""


def _cut(text: str, model: ServedModel, *, lines: bool, sentences: bool) -> PlainText:
    """Take apart text without tags, into sentences if the model wants them, too."""
    sentences = sentences and not model.whole_lines
    return PlainText(text, model.source, model.target, lines=lines, sentences=sentences)


def plain_reader(*, lines: bool = True, sentences: bool = True) -> Reader:
    """Read text without tags, in which a line break separates texts, or is a space."""
    return Reader(partial(_cut, lines=lines, sentences=sentences))


def markup_reader(rules: Rules, *, sentences: bool = True) -> Reader:
    """Read documents; line breaks in them are spaces."""

    def take_apart(text: str, model: ServedModel) -> Passage:
        return Markup(text, rules, partial(_cut, model=model, lines=False, sentences=sentences))

    return Reader(take_apart, partial(visible_text, rules=rules))


PLAIN_TEXT = plain_reader()
HTML = markup_reader(Rules())
