"""A document whose every piece is translated by a test."""

import re
from collections.abc import Callable

from tests.alternative import says

from dragoman.documents.formats import TakeApart
from dragoman.markup.text_reader import TextReader

READER = TextReader("en", "it")


def in_capitals(text: str) -> str:
    """Translate a piece, and keep what a translator keeps."""
    return re.sub(r"\{X\d+\}", lambda found: found[0].lower(), text.upper())


def translated(
    text: str, take_apart: TakeApart, translate: Callable[[str], str] = in_capitals
) -> str:
    """Translate a document; by default, into capitals."""
    passage = take_apart(text, READER)
    pieces = [piece.strip().replace("\n", " ") for piece in passage.pieces]
    return passage.put_together([says(translate(piece)) for piece in pieces]).text
