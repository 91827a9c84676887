"""Subwords by SentencePiece: unigram (Kudo 2018) or BPE (Sennrich et al. 2016)."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import sentencepiece

from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.sampling import WORD_BOUNDARY, SubwordSampler
from dragoman.tokenizers.tokenizer import SpecialIds, Tokenizer, TokenizerError, read_file

_STAND_IN = "\uffff"  # never in normalised text, so never in a vocabulary
_WORTH_THREADS = 256
"""From this many texts on, threads save more time than it takes to start them."""


class SentencePieceTokenizer(Tokenizer):
    """A SentencePiece model whose special ids are pad 0, unk 1, bos 2, eos 3.

    With byte fallback, `decode(encode(text)) == normalise(text)` for every text, except that a
    model trained with `lowercase` folds the case.
    """

    def __init__(self, model: bytes) -> None:
        """Read a serialised model.

        Raises:
            TokenizerError: it is not a SentencePiece model, or its special ids differ.
        """
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
            self.pieces(range(self.vocab_size))
        except (RuntimeError, OSError, UnicodeDecodeError):  # the last for damaged pieces
            raise TokenizerError("not a SentencePiece model, or a damaged one") from None
        if self._own_special_ids() != self.special_ids:
            raise TokenizerError(
                f"its special ids are {self._own_special_ids()}, not {self.special_ids}; "
                "train a tokenizer, or import the model that it belongs to"
            )
        self._file = model
        self._stand_in_ids = self._byte_ids(_STAND_IN)
        self._word_boundary_ids = self._byte_ids(WORD_BOUNDARY)

    @classmethod
    def load(cls, path: Path) -> "SentencePieceTokenizer":
        """Read a `.model` file.

        Raises:
            TokenizerError: there is no such file, or it is not a model trained here.
        """
        model = read_file(path)
        try:
            return cls(model)
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from None

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, specials included."""
        size: int = self._processor.get_piece_size()
        return size

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, unknown, beginning and end."""
        return SpecialIds()

    @property
    def file(self) -> bytes:
        """The `.model` file, which is the serialised model."""
        return self._file

    def encode(self, text: str) -> list[int]:
        """Cut one text into its best subwords."""
        return self._restore(text, self._processor.encode(_escape(text)))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut several texts, many of them on all cores."""
        threads = -1 if len(texts) >= _WORTH_THREADS else 1
        batch = self._processor.encode([_escape(text) for text in texts], num_threads=threads)
        return [self._restore(text, ids) for text, ids in zip(texts, batch, strict=True)]

    def sample(self, texts: Sequence[str], *, seed: int, strength: float) -> list[list[int]]:
        """Draw one segmentation of each text: subword regularisation, or BPE-dropout.

        `strength` is `TokenizerConfig.sampling`; 0 gives the best subwords.
        """
        if strength == 0.0:
            return self.encode_batch(texts)
        batch = self._sampler.sample(
            [_escape(text) for text in texts], seed=seed, strength=strength
        )
        return [self._restore(text, ids) for text, ids in zip(texts, batch, strict=True)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Tell where each token begins and ends in the text's normal form."""
        found: list[tuple[int, int]] = self._processor.encode(
            _escape(text), return_type="offset_mapping"
        )["offsets"]
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Join ids into one line of normalised text, whatever the ids."""
        return normalise(self._processor.decode(list(ids)))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Write each id as the vocabulary does; U+2581 stands for a space."""
        return [self._processor.id_to_piece(i) for i in ids]

    @cached_property
    def _sampler(self) -> SubwordSampler:
        return SubwordSampler(self._processor)

    def _own_special_ids(self) -> SpecialIds:
        model = self._processor
        return SpecialIds(
            pad=model.pad_id(), unk=model.unk_id(), bos=model.bos_id(), eos=model.eos_id()
        )

    def _byte_ids(self, character: str) -> list[int]:
        """Spell a character in byte pieces; without byte fallback, in unknowns."""
        ids: list[int] = self._processor.piece_to_id(
            [f"<0x{byte:02X}>" for byte in character.encode()]
        )
        return ids

    def _restore(self, text: str, ids: list[int]) -> list[int]:
        """Put the bytes of U+2581 where `_escape` put its stand-in."""
        if WORD_BOUNDARY in text:
            for start in range(len(ids)):
                if ids[start : start + 3] == self._stand_in_ids:
                    ids[start : start + 3] = self._word_boundary_ids
        return ids


def _escape(text: str) -> str:
    """Normalise, and hide U+2581, which SentencePiece would take for a space."""
    return normalise(text).replace(WORD_BOUNDARY, _STAND_IN)
