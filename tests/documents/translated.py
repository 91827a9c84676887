"""A document whose every piece is translated by a test."""

from collections.abc import Callable

from tests.alternative import says

from dragoman.documents.formats import TakeApart
from dragoman.markup.text_reader import TextReader

READER = TextReader("en", "it")


def translated(
    text: str, take_apart: TakeApart, translate: Callable[[str], str] = str.upper
) -> str:
    """Translate a document; by default, into capitals."""
    passage = take_apart(text, READER)
    pieces = [piece.strip().replace("\n", " ") for piece in passage.pieces]
    return passage.put_together([says(translate(piece)) for piece in pieces]).text
