"""Whole words, as learners' guides use them: for teaching and for tiny vocabularies."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dragoman.languages.scripts import word_pattern
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import (
    SPECIAL_PIECES,
    UNK_ID,
    SpecialIds,
    Tokenizer,
    TokenizerError,
    read_file,
)

_GLUED_LEFT = frozenset(".,;:!?%)]}»”…")
_GLUED_RIGHT = frozenset("([{«“¿¡")
_GLUED_BOTH = frozenset("'’-/")
_HEADER = "dragoman words 1"
_LOWERCASE = " lowercase"


class WordTokenizer(Tokenizer):
    """A vocabulary of words and punctuation marks; every other word is `<unk>`.

    Decoding is lossy: spacing follows a general rule (none before a full stop, none around an
    apostrophe or a hyphen), and an unknown word stays `<unk>`.
    """

    def __init__(self, words: Sequence[str], *, lowercase: bool = False) -> None:
        """Give the words, in their order, the ids after the special ones."""
        self._pieces = (*SPECIAL_PIECES, *words)
        self._ids = {word: i for i, word in enumerate(words, start=len(SPECIAL_PIECES))}
        self._lowercase = lowercase

    @classmethod
    def load(cls, path: Path) -> "WordTokenizer":
        """Read a `.words` file.

        Raises:
            TokenizerError: there is no such file, or it is not what `save` writes.
        """
        try:
            header, *pieces = read_file(path).decode().split("\n")
        except UnicodeDecodeError:
            raise TokenizerError(f"{path}: not a list of words: it is not UTF-8 text") from None
        num_special = len(SPECIAL_PIECES)
        words = pieces[num_special:-1]
        if (
            header not in (_HEADER, _HEADER + _LOWERCASE)
            or tuple(pieces[:num_special]) != SPECIAL_PIECES
            or pieces[-1]
        ):
            raise TokenizerError(
                f"{path}: not a list of words that was saved here, or only a part of one"
            )
        if len(set(words)) != len(words):
            ((twice, _),) = Counter(words).most_common(1)
            raise TokenizerError(f"{path}: it has the word {twice!r} twice")
        return cls(words, lowercase=header.endswith(_LOWERCASE))

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, specials included."""
        return len(self._pieces)

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, unknown, beginning and end."""
        return SpecialIds()

    @property
    def file(self) -> bytes:
        """The `.words` file: a header, then one word per line in the order of their ids."""
        header = _HEADER + (_LOWERCASE if self._lowercase else "")
        return "".join(f"{line}\n" for line in (header, *self._pieces)).encode()

    def encode(self, text: str) -> list[int]:
        """Look up each word."""
        words = split_words(text, lowercase=self._lowercase)
        return [self._ids.get(word, UNK_ID) for word in words]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Look up the words of several texts."""
        return [self.encode(text) for text in texts]

    def sample(self, texts: Sequence[str], *, seed: int, strength: float) -> list[list[int]]:
        """Encode: a word can be cut in one way only."""
        return self.encode_batch(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Tell where each word begins and ends in the text's normal form."""
        return [found.span() for found in _token().finditer(normalise(text))]

    def decode(self, ids: Sequence[int]) -> str:
        """Join words with the spacing that most European languages use."""
        special = self.special_ids
        silent = (special.pad, special.bos, special.eos)
        text = ""
        glue = True  # nothing stands before the first word
        for word in self.pieces([i for i in ids if i not in silent]):
            glue = glue or word in _GLUED_LEFT or word in _GLUED_BOTH
            text += word if glue else f" {word}"
            glue = word in _GLUED_RIGHT or word in _GLUED_BOTH
        return text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Write each id as the vocabulary does."""
        return [self._pieces[i] for i in ids]


def split_words(text: str, *, lowercase: bool = False) -> list[str]:
    """Cut a text into words and single punctuation marks.

    >>> split_words("Where's the cat?")
    ['Where', "'", 's', 'the', 'cat', '?']
    """
    text = normalise(text)
    return _token().findall(text.lower() if lowercase else text)


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"{word_pattern()}|[^\w\s]")
