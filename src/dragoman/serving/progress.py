"""A translation that is told of while it is made."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dragoman.tokenizers.sentences import join_translations


class Piece(NamedTuple):
    """A part of a text, and what goes behind the translation of the parts before it."""

    source: str
    text: str
    """The white space before the part is in it, and that behind it is not."""


class Progress:
    """Tells of the pieces of a text in order, each as soon as it and all before it are translated.

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
            pieces: Those of a text, with the white space between them.
            target: The language of the translation.
            tell: Is told of each piece.
        """
        self._pieces = pieces
        self._target = target
        self._tell = tell
        self._num_told = 0
        self._waiting: dict[int, str] = {}

    def note(self, place: int, translation: str) -> None:
        """Take a translation, and tell of it if it is its turn, and of those that waited for it."""
        self._waiting[place] = translation.strip()
        while self._num_told in self._waiting:
            self._tell(self._next())

    def _next(self) -> Piece:
        place = self._num_told
        self._num_told += 1
        piece, translation = self._pieces[place], self._waiting.pop(place)
        around, translations = [piece], [translation]
        if place:  # white space behind the piece before is white space before this one
            around, translations = [self._pieces[place - 1].lstrip(), piece], ["", translation]
        text = join_translations(around, translations, self._target).rstrip()
        return Piece(piece.strip(), text)
