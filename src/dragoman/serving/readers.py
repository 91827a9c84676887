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


def _take_lines_apart(text: str, model: ServedModel) -> Passage:
    """Take apart lines of text, into sentences if the model wants them."""
    return PlainText(text, model.source, model.target, sentences=not model.whole_lines)


def markup_reader(rules: Rules, *, sentences: bool = True) -> Reader:
    """Read documents; line breaks in them are spaces."""

    def take_apart(text: str, model: ServedModel) -> Passage:
        cut = partial(
            PlainText,
            source=model.source,
            target=model.target,
            lines=False,
            sentences=sentences and not model.whole_lines,
        )
        return Markup(text, rules, cut)

    return Reader(take_apart, partial(visible_text, rules=rules))


PLAIN_TEXT = Reader(_take_lines_apart)
HTML = markup_reader(Rules())
