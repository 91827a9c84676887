"""How the kinds of text are taken apart that clients send."""

from collections.abc import Callable
from functools import partial

from dragoman.markup.document import Markup, Rules
from dragoman.markup.passage import Passage, PlainText
from dragoman.serving.models import ServedModel

Reader = Callable[[str, ServedModel], Passage]
"""Takes a text apart that a model is to translate."""


def read_plain_text(text: str, model: ServedModel) -> Passage:
    """Take lines of text apart, into sentences if the model wants them."""
    return PlainText(text, model.source, model.target, sentences=not model.whole_lines)


def read_html(text: str, model: ServedModel) -> Passage:
    """Take HTML apart that a model is to translate."""
    return read_markup(text, model, Rules())


def read_markup(text: str, model: ServedModel, rules: Rules, *, sentences: bool = True) -> Passage:
    """Take a document apart that a model is to translate; line breaks in it are spaces."""
    cut = partial(
        PlainText,
        source=model.source,
        target=model.target,
        lines=False,
        sentences=sentences and not model.whole_lines,
    )
    return Markup(text, rules, cut)
