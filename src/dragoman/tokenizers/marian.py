"""Subwords of imported Marian models: SentencePiece cuts the text, a list numbers the pieces."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import sentencepiece

from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.sampling import WORD_BOUNDARY
from dragoman.tokenizers.tokenizer import SpecialIds, Tokenizer, TokenizerError, read_file

_FORMAT = "dragoman marian 1"


class MarianTokenizer(Tokenizer):
    """One side of a Marian model: its SentencePiece model and the vocabulary of its embeddings.

    The two know different pieces: the vocabulary is often that of both languages, and a piece
    that only SentencePiece knows is unknown. Marian has no byte fallback, so a character that was
    not in its training text is unknown too.

    A model with several target languages takes the wanted one from a token such as `>>ita<<` in
    front of the source. That token is a property of the tokenizer: in the text it is plain text.
    """

    def __init__(
        self,
        model: bytes,
        vocabulary: Mapping[str, int],
        special_ids: SpecialIds,
        *,
        prefix: str | None = None,
    ) -> None:
        """Read a serialised SentencePiece model.

        Args:
            model: The contents of a `.spm` file.
            vocabulary: The id of each piece; together they are 0 ... n - 1.
            special_ids: Those of padding, unknown, the token that decoding starts from, and end.
            prefix: A piece of the vocabulary that every encoded text begins with.

        Raises:
            TokenizerError: it is not a SentencePiece model, ids are missing or out of range, or
                the prefix is unknown.
        """
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except (RuntimeError, OSError):
            raise TokenizerError("not a SentencePiece model, or a damaged one") from None
        ids = list(vocabulary.values())
        if any(type(i) is not int for i in ids) or sorted(ids) != list(range(len(ids))):
            raise TokenizerError(f"the ids of its {len(vocabulary)} pieces are not 0, 1, 2, ...")
        if not {*asdict(special_ids).values()} <= {*ids}:
            raise TokenizerError(f"{special_ids} are not all in its {len(vocabulary)} pieces")
        if prefix is not None and prefix not in vocabulary:
            raise TokenizerError(_unknown_prefix(prefix, vocabulary))
        self._ids = dict(vocabulary)
        self._pieces = sorted(vocabulary, key=self._ids.__getitem__)
        self._special_ids = special_ids
        self.prefix = prefix
        """The piece that every encoded text begins with, if there is one."""
        self.sentencepiece_model = model
        """The contents of the `.spm` file."""

    @classmethod
    def load(cls, path: Path) -> "MarianTokenizer":
        """Read a `.marian` file.

        Raises:
            TokenizerError: there is no such file, or it is not what `save` writes.
        """
        written = read_file(path)
        try:
            content = json.loads(written)
            if content["format"] != _FORMAT:
                raise TokenizerError(f"{path}: not a Marian tokenizer that was saved here")
            return cls(
                base64.b64decode(content["sentencepiece"], validate=True),
                {piece: i for i, piece in enumerate(content["pieces"])},
                SpecialIds(**content["special_ids"]),
                prefix=content["prefix"],
            )
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise TokenizerError(f"{path}: not a Marian tokenizer, or a damaged one") from None

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary, specials included."""
        return len(self._pieces)

    @property
    def special_ids(self) -> SpecialIds:
        """The ids of padding, unknown, beginning and end; Marian begins with padding."""
        return self._special_ids

    @property
    def file(self) -> bytes:
        """The `.marian` file: JSON with the pieces in order and the SentencePiece model."""
        content = {
            "format": _FORMAT,
            "special_ids": asdict(self._special_ids),
            "prefix": self.prefix,
            "pieces": self._pieces,
            "sentencepiece": base64.b64encode(self.sentencepiece_model).decode(),
        }
        return (json.dumps(content, ensure_ascii=False, indent=0) + "\n").encode()

    def encode(self, text: str) -> list[int]:
        """Cut one text into its best subwords."""
        return self._number(self._processor.encode(normalise(text), out_type=str))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut several texts, on all cores."""
        batch = self._processor.encode([normalise(text) for text in texts], out_type=str)
        return [self._number(pieces) for pieces in batch]

    def sample(self, texts: Sequence[str], *, seed: int, strength: float) -> list[list[int]]:
        """Cut several texts in the only way there is.

        Raises:
            TokenizerError: the strength is not 0.
        """
        if strength != 0.0:
            raise TokenizerError("a Marian tokenizer does not sample; set tokenizer.sampling to 0")
        return self.encode_batch(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Tell where each token begins and ends in the text's normal form."""
        found: list[tuple[int, int]] = self._processor.encode(
            normalise(text), return_type="offset_mapping"
        )["offsets"]
        return [(0, 0), *found] if found and self.prefix is not None else found

    def decode(self, ids: Sequence[int]) -> str:
        """Join ids into one line of normalised text."""
        special = self.special_ids
        silent = (special.pad, special.bos, special.eos)
        pieces = self.pieces([i for i in ids if i not in silent])
        return normalise(self._processor.decode_pieces(pieces).replace(WORD_BOUNDARY, " "))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Write each id as the vocabulary does; U+2581 stands for a space."""
        return [self._pieces[i] for i in ids]

    def _number(self, pieces: Sequence[str]) -> list[int]:
        """Look up the pieces; an empty text stays empty, even for a model that takes a prefix."""
        ids = [self._ids.get(piece, self._special_ids.unk) for piece in pieces]
        return [self._ids[self.prefix], *ids] if ids and self.prefix is not None else ids


def language_tokens(vocabulary: Iterable[str]) -> list[str]:
    """List the pieces that choose a target language, such as `>>ita<<`."""
    return [piece for piece in vocabulary if piece.startswith(">>") and piece.endswith("<<")]


def _unknown_prefix(prefix: str, vocabulary: Mapping[str, int]) -> str:
    """Say which language tokens there are."""
    known = language_tokens(vocabulary)
    there_is = f"the model has {', '.join(known)}" if known else "the model knows only one language"
    return f"unknown language token {prefix}; {there_is}"
