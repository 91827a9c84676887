"""Cut texts into what a model is shown, and put them together again."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import repeat

from dragoman.markup.document import Markup
from dragoman.markup.passage import Passage, PlainText
from dragoman.markup.text_reader import TextReader
from dragoman.prepared_sentence import PreparedSentence, has_words, prepare
from dragoman.sentence_translator import Sentence
from dragoman.terms.finder import TermFinder
from dragoman.tokenizers.normalisation import encodable, visible
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentences import cut_to_fit, join_translations
from dragoman.translation import Alternative, Translation, badness, join, join_alternatives


@dataclass(frozen=True, kw_only=True)
class CutPiece:
    """A sentence in the form that a model is shown."""

    source: str
    """The sentence as it is written, without the white space around it."""

    prepared: PreparedSentence
    """What surrounds it and is not shown, such as emoji; one without a word is all before it."""

    sentences: tuple[Sentence, ...]
    """The units of translation: the sentence, or pieces of one that is too long, or nothing."""

    target: str
    """The language into which it is translated."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The part of the source that each of the sentences comes from, with what surrounds it."""
        if len(self.sentences) < 2:  # noqa: PLR2004
            return (self.source,)
        shown = [(sentence.text + sentence.after).strip() for sentence in self.sentences]
        return _slices(self.source, self._surround(shown))

    def put_together(
        self, found: Sequence[Sequence[Alternative]], *, drawn: bool
    ) -> Sequence[Alternative]:
        """Build translations of the piece from those of each of its sentences."""
        return join_alternatives(found, self._join, drawn=drawn)

    def _join(self, each: Sequence[Alternative]) -> Alternative:
        texts = [
            self.prepared.write(alternative.text).strip() + _kept_behind(sentence)
            for alternative, sentence in zip(each, self.sentences, strict=True)
        ]
        pieces = [sentence.text + sentence.after for sentence in self.sentences]
        whole = join_translations(pieces, texts, self.target)
        text = self.prepared.before + whole + self.prepared.after
        return join(each, text, parts=self._surround(texts))

    def _surround(self, texts: Sequence[str]) -> tuple[str, ...]:
        first, *others = texts or ("",)
        *others, last = self.prepared.before + first, *others
        return (*others, last + self.prepared.after)


def _kept_behind(sentence: Sentence) -> str:
    """Return what follows a sentence, with the space between them."""
    if not sentence.after:
        return ""
    return (sentence.text[len(sentence.text.rstrip()) :] + sentence.after).rstrip()


def _slices(source: str, shown: Sequence[str]) -> tuple[str, ...]:
    """Cut a sentence into the stretches that its shown parts come from.

    White space and invisible characters are not counted, as the model may not be shown them.
    """
    slices = []
    start = 0
    for part in shown[:-1]:
        end, left = start, _count_visible(part)
        while left > 0 and end < len(source):
            left -= _count_visible(source[end])
            end += 1
        slices.append(source[start:end].strip())
        start = end
    return (*slices, source[start:].strip())


def _count_visible(text: str) -> int:
    return len("".join(visible(text).split()))


@dataclass(frozen=True)
class CutText:
    """A text in the form that a model is shown."""

    source: str
    passage: Passage
    pieces: list[CutPiece]

    @property
    def sentences(self) -> Iterator[Sentence]:
        """What is translated, in order."""
        return (sentence for piece in self.pieces for sentence in piece.sentences)

    @property
    def sentences_of_text(self) -> Iterator[Sentence]:
        """What is translated, without the text between tags that is translated a second time."""
        are_again = self.passage.are_again if isinstance(self.passage, Markup) else repeat(False)
        return (
            sentence
            for piece, again in zip(self.pieces, are_again, strict=False)
            for sentence in piece.sentences
            if not again
        )

    def put_together(
        self, found: Iterator[list[Alternative]], *, drawn: bool = False
    ) -> Translation:
        """Build the translation of the text from those of its sentences, which come in order.

        Args:
            found: The alternatives of each sentence.
            drawn: Whether they were drawn at random.
        """
        pieces = [
            piece.put_together([next(found) for _ in piece.sentences], drawn=drawn)
            for piece in self.pieces
        ]
        alternatives = join_alternatives(pieces, self.passage.put_together, drawn=drawn)
        is_plain = isinstance(self.passage, PlainText)
        parts = tuple(part for piece in self.pieces for part in piece.parts)
        return Translation(
            source=self.source,
            alternatives=tuple(sorted(alternatives, key=badness)) if drawn else alternatives,
            parts=parts if is_plain else (self.source.strip(),),
            cut=any(len(piece.sentences) > 1 for piece in self.pieces),
        )


@dataclass(frozen=True)
class TextCutter:
    """Cuts texts into sentences, and sentences that are too long into pieces.

    Where terms are protected, a model is not shown tags, nor what surrounds a sentence and says
    nothing, such as emoji, nor a sentence of protected terms alone, nor invisible characters. A
    sentence in capitals is shown in small letters.
    """

    tokenizers: TokenizerPair
    reader: TextReader
    """Takes texts apart for the model."""

    _: KW_ONLY
    max_length: int
    """Tokens of the longest sentence that the model has seen."""

    terms: TermFinder
    """Finds what stays as it is."""

    def cut(self, texts: Sequence[str]) -> list[CutText]:
        """Cut texts."""
        # Without protection, tags are treated as text.
        read = self.reader.read_string if self.terms.protects else self.reader.read_line
        passages = [read(encodable(text)) for text in texts]
        prepared = [[prepare(piece, self.terms) for piece in each.pieces] for each in passages]
        contents = [each.content for of_text in prepared for each in of_text]
        encoded = iter(self.tokenizers.source.encode_batch(contents))
        return [
            CutText(
                text,
                passage,
                [
                    self._finish(piece.strip(), each, next(encoded))
                    for piece, each in zip(passage.pieces, of_text, strict=True)
                ],
            )
            for text, passage, of_text in zip(texts, passages, prepared, strict=True)
        ]

    def _finish(self, source: str, prepared: PreparedSentence, ids: list[int]) -> CutPiece:
        before, sentences = "", [Sentence(prepared.content, ids)] if prepared.content else []
        if prepared.stays:
            before, sentences = prepared.content, []
        elif len(ids) > self.max_length:
            before, sentences = self._cut_to_fit(prepared.content)
        if before:
            prepared = replace(prepared, before=prepared.before + before)
        return CutPiece(
            source=source,
            prepared=prepared,
            sentences=tuple(sentences),
            target=self.reader.target,
        )

    def _cut_to_fit(self, content: str) -> tuple[str, list[Sentence]]:
        """Cut a sentence that has more tokens than the model has seen, but never within a term.

        Returns:
            What stands before its first part and is not shown, and its parts.
        """
        tokenizer, protected = self.tokenizers.source, self.terms.find_protected(content)
        places = [(term.start, term.end) for term in protected]
        parts = cut_to_fit(content, tokenizer, limit=self.max_length, whole=places)
        before, sentences = "", list[Sentence]()
        for part, ids in zip(parts, tokenizer.encode_batch(parts), strict=True):
            if not self.terms.protects or has_words(part, self.terms.find_protected(part)):
                sentences.append(Sentence(part, ids))
            elif sentences:
                sentences[-1] = sentences[-1]._replace(after=sentences[-1].after + part)
            else:
                before += part
        return before, sentences
