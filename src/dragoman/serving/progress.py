"""A translation that is reported while it is made."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dragoman.tokenizers.sentences import join_translations


class Piece(NamedTuple):
    """A part of a text, and what to append to the translation of the parts before it."""

    source: str
    text: str
    """It includes the white space before the part, but not that after it."""


class Progress:
    """Reports the pieces of a text in order, each as soon as it and all before it are translated.

    >>> told = []
    >>> progress = Progress(["One. ", "Two."], "it", told.append)
    >>> progress.note(1, "Due.")
    >>> progress.note(0, "Uno.")
    >>> [piece.text for piece in told]
    ['Uno.', ' Due.']
    """

    def __init__(self, pieces: Sequence[str], target: str, tell: Callable[[Piece], None]) -> None:
        """Begin with nothing translated.

        Args:
            pieces: The pieces of a text, with the white space between them.
            target: The language of the translation.
            tell: Called with each piece.
        """
        self._pieces = pieces
        self._target = target
        self._tell = tell
        self._num_told = 0
        self._waiting: dict[int, str] = {}

    def note(self, place: int, translation: str) -> None:
        """Take a translation; if it is its turn, report it and those that waited for it."""
        self._waiting[place] = translation.strip()
        while self._num_told in self._waiting:
            self._tell(self._next())

    def _next(self) -> Piece:
        place = self._num_told
        self._num_told += 1
        piece, translation = self._pieces[place], self._waiting.pop(place)
        around, translations = [piece], [translation]
        if place:  # white space after the previous piece is white space before this one
            around, translations = [self._pieces[place - 1].lstrip(), piece], ["", translation]
        text = join_translations(around, translations, self._target).rstrip()
        return Piece(piece.strip(), text)
