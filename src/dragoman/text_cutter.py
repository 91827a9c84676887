"""Texts are cut into what is translated at once, and put together again."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from dragoman.markup.document import STRING, Markup, is_marked_up
from dragoman.markup.passage import Passage, PlainText
from dragoman.sentence_translator import Alternative, Sentence, join, join_alternatives
from dragoman.tokenizers.normalisation import encodable
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentences import cut_margins, cut_to_fit, join_translations
from dragoman.translation import Translation


@dataclass(frozen=True, kw_only=True)
class CutPiece:
    """A sentence as it is translated."""

    before: str
    """What stands before it and says nothing, as pictures."""

    sentences: tuple[Sentence, ...]
    """What is translated at once: the sentence, or as much of it as fits."""

    after: str
    """What stands behind it and says nothing."""

    target: str
    """The language into which it is translated."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts of the sentences, with what stands around them."""
        return self._surround([sentence.text.strip() for sentence in self.sentences])

    def put_together(self, found: Sequence[Sequence[Alternative]]) -> Sequence[Alternative]:
        """Make translations of the piece from those of each of its sentences."""
        if len(self.sentences) == 1 and not self.before and not self.after:
            return found[0]
        return join_alternatives(found, self._join)

    def _join(self, each: Sequence[Alternative]) -> Alternative:
        texts = [sentence.text for sentence in self.sentences]
        text = join_translations(texts, [alternative.text for alternative in each], self.target)
        joined = join(each, self.before + text + self.after)
        return replace(joined, parts=self._surround(joined.parts))

    def _surround(self, texts: Sequence[str]) -> tuple[str, ...]:
        first, *others = texts
        *others, last = self.before + first, *others
        return (*others, last + self.after)


@dataclass(frozen=True)
class CutText:
    """A text as it is translated."""

    source: str
    passage: Passage
    pieces: list[CutPiece]

    @property
    def sentences(self) -> Iterator[Sentence]:
        """What is translated, in order."""
        return (sentence for piece in self.pieces for sentence in piece.sentences)

    def put_together(self, found: Iterator[list[Alternative]]) -> Translation:
        """Make the translation of the text from those of its sentences, which come in order."""
        pieces = [
            piece.put_together([next(found) for _ in piece.sentences]) for piece in self.pieces
        ]
        is_plain = isinstance(self.passage, PlainText)
        parts = tuple(part for piece in self.pieces for part in piece.parts)
        return Translation(
            source=self.source,
            alternatives=join_alternatives(pieces, self.passage.put_together),
            parts=parts if is_plain else (self.source.strip(),),
            cut=any(len(piece.sentences) > 1 for piece in self.pieces),
        )


@dataclass(frozen=True)
class TextCutter:
    """Cuts texts into sentences, and sentences that are too long into pieces."""

    tokenizers: TokenizerPair
    languages: tuple[str, str]
    """The codes of the source and of the target."""

    _: KW_ONLY
    max_length: int
    """Tokens of the longest sentence that the model has seen."""

    protects: bool
    """Whether the model does not see tags, and nothing that says nothing in any language."""

    splits_sentences: bool
    """Whether to cut a text into sentences."""

    def cut(self, texts: Sequence[str]) -> list[CutText]:
        """Cut texts."""
        passages = [self._read(encodable(text)) for text in texts]
        cut = [list(map(self._cut_margins, passage.pieces)) for passage in passages]
        contents = [content for pieces in cut for _, content, _ in pieces]
        encoded = iter(self.tokenizers.source.encode_batch(contents))
        return [
            CutText(
                text,
                passage,
                [
                    CutPiece(
                        before=before,
                        sentences=self._fit(content, next(encoded)),
                        after=after,
                        target=self.languages[1],
                    )
                    for before, content, after in pieces
                ],
            )
            for text, passage, pieces in zip(texts, passages, cut, strict=True)
        ]

    def _read(self, text: str) -> Passage:
        """Take a text apart."""
        if self.protects and is_marked_up(text):
            return Markup(text, STRING, self._read_plain)
        return self._read_plain(text)

    def _read_plain(self, text: str) -> PlainText:
        return PlainText(text, *self.languages, lines=False, sentences=self.splits_sentences)

    def _cut_margins(self, text: str) -> tuple[str, str, str]:
        return cut_margins(text.strip()) if self.protects else ("", text, "")

    def _fit(self, sentence: str, ids: list[int]) -> tuple[Sentence, ...]:
        """Cut a sentence that has more tokens than the model has seen."""
        if len(ids) <= self.max_length:
            return (Sentence(sentence, ids),)
        parts = cut_to_fit(sentence, self.tokenizers.source, limit=self.max_length)
        return tuple(map(Sentence, parts, self.tokenizers.source.encode_batch(parts)))
