"""What a tokenizer is: text to token ids, and back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from dragoman.durable import read_at_most
from dragoman.errors import DragomanError

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
"""The special ids of every vocabulary that is trained here."""

SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
"""How the special ids are written in vocabulary files; in users' text these are plain text."""

LARGEST_FILE = 64 * 2**20
"""Bytes; a vocabulary of a quarter of a million entries takes five million."""


class TokenizerError(DragomanError):
    """A tokenizer cannot be trained, saved or loaded."""


def read_file(path: Path) -> bytes:
    """Read the file of a tokenizer, which may come from anywhere.

    Raises:
        TokenizerError: there is no such file, or it cannot be a tokenizer's.
    """
    try:
        return read_at_most(path, most=LARGEST_FILE)
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read: {error.strerror}") from error


@dataclass(frozen=True, kw_only=True)
class SpecialIds:
    """The ids that no text encodes to, except the unknown id. Imported models have their own."""

    pad: int = PAD_ID
    unk: int = UNK_ID
    bos: int = BOS_ID
    eos: int = EOS_ID


def forbidden_ids(kind: str, special: SpecialIds) -> tuple[int, ...]:
    """List the tokens that a translation never has; vocabularies of words need the unknown one.

    Some imported models start decoding from their end token.
    """
    markers = (special.pad, special.bos)
    forbidden = markers if kind == "words" else (*markers, special.unk)
    return tuple(token for token in forbidden if token != special.eos)


@runtime_checkable
class Tokenizer(Protocol):
    """Text to token ids, and back. Implementations keep no state between calls."""

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, specials included; every id is smaller."""

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, unknown, beginning and end."""

    @property
    def file(self) -> bytes:
        """The contents of the file that it loads from."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self.file).hexdigest()

    def encode(self, text: str) -> list[int]:
        """Cut one text into ids, without beginning or end."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut several texts, each as `encode` does."""

    def sample(self, texts: Sequence[str], *, seed: int, strength: float) -> list[list[int]]:
        """Cut each text in one of its possible ways; equal arguments give equal ids."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Tell where each token of `encode(text)` begins and ends in the text's normal form.

        Characters are counted from 0. Of the tokens that spell one character together, all but the
        last one are empty, and so is one that names the target language.
        """

    def decode(self, ids: Sequence[int]) -> str:
        """Join ids into one line of text; padding, beginning and end are left out."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Write each id as the vocabulary does, for figures."""

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_bytes(self.file)
