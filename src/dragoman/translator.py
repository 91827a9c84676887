"""Text to text: the class that people import."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import NamedTuple, overload

from dragoman.batched import batched
from dragoman.confidence import Judgement, Word, judge_words
from dragoman.decoding.config import SearchConfig
from dragoman.device import Precision
from dragoman.engines.protocol import Engine, EngineError, EngineKind
from dragoman.engines.selection import EngineSettings, build_engine, build_second_engine
from dragoman.errors import DragomanError
from dragoman.markup.document import is_marked_up
from dragoman.markup.text_reader import TextReader
from dragoman.model_directory import ModelDirectory, ModelError
from dragoman.prepared_sentence import PreparedSentence, prepare
from dragoman.sentence_translator import Sentence, SentenceTranslator
from dragoman.terms.finder import TermFinder
from dragoman.text_cutter import TextCutter
from dragoman.tokenizers.normalisation import encodable
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.translation import Alternative, Translation, join
from dragoman.words import cut_words


class SentenceError(DragomanError):
    """A text is too long to be treated as one sentence, or the model cannot write a prefix."""


class MarkedUpError(DragomanError):
    """A sentence has tags or escapes, which are removed only where all of it is translated."""


class ProcessError(DragomanError):
    """A model is used in a process that was forked after it was loaded."""


class Way(NamedTuple):
    """One of the words that could follow the beginning of a translation."""

    word: Word
    translation: str
    """All of it, from its beginning."""

    faults: tuple[str, ...]
    """The obvious faults of the translation; see `dragoman.faults`."""


class Translator:
    """Translates text with a saved model.

    A text is split into sentences, as that is what most models have learnt to translate, and the
    white space between them is kept. An empty or blank text stays as it is. A text's translation
    does not depend on the other texts it is given with, as long as the model computes in single
    precision on a CPU. In bf16 a few translations do, and with 8-bit weights or on a GPU nothing is
    promised.

    Threads can share a translator. Forked processes cannot: each must load the model itself, after
    the fork, from a process that has not computed before.

    Placeholders, addresses, codes, numbers, signs and foreign words stay as they are: where a
    translation does not keep them by itself, the search is forced to produce them. The same goes
    for the terms of a glossary. Tags and escaped line breaks are removed, and put back around the
    same words; emoji and control characters around a sentence are put back too. A translation that
    is empty, repeats itself, copies the source, or is far too long or too short is replaced by the
    best one without such a fault, if a wider search finds one; otherwise its fault is reported.

    A sentence with more tokens than the model has seen is split further, between clauses if
    possible, and its pieces are translated separately. The k-th translation of a text joins the
    k-th translations of its parts, and their scores are added. There are as many as the part with
    the most has; a part with fewer gives its best one again.

    Args:
        path: A model directory.
        engine: "pytorch", or "ctranslate2" if `dragoman export` has made a copy for it. "auto"
            takes the copy if there is one, unless the search samples, a precision or a device other
            than the CPU is requested, or `device` is "auto" and PyTorch has a GPU.
        device: A name that PyTorch knows, such as cuda:1; "auto" takes a GPU if there is one. On a
            GPU, PyTorch's attention by cuDNN is switched off for the whole process.
        search: How to search, if not as the model's description says.
        split_sentences: Whether to split a text into sentences; a model that has learnt from
            paragraphs may do better with the whole text.
        protect: Whether to keep placeholders, addresses, codes, numbers, signs, tags, escapes,
            emoji and words in other scripts as they are.
        glossary: A file of terms with prescribed translations, one per line: source TAB target.
        shortlist: Whether to search only the tokens of the model's shortlist, which
            `dragoman shortlist` learns. Scores are then relative to it.
        precision: Of PyTorch's matrix products: "bf16" is faster where the hardware has it, which
            "auto" detects, and "fp32" is exact.
        threads: How many threads compute on a CPU; all if not given. PyTorch has one number for the
            whole process.

    Raises:
        DragomanError: the model or the glossary cannot be used, there is no such device, or PyTorch
            is missing.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        path: str | Path,
        *,
        engine: EngineKind = "auto",
        device: str = "auto",
        search: SearchConfig | None = None,
        split_sentences: bool = True,
        protect: bool = True,
        glossary: str | Path | None = None,
        shortlist: bool = False,
        precision: Precision = "auto",
        threads: int | None = None,
    ) -> None:
        directory = ModelDirectory(path)
        description = directory.description
        tokenizers, search = directory.load_tokenizers(), search or directory.search
        languages = description.languages
        terms = TermFinder.load(languages, protects=protect, glossary=glossary)
        reader = TextReader(*languages, splits_sentences=split_sentences)
        settings = EngineSettings(
            engine=engine, device=device, shortlist=shortlist, precision=precision, threads=threads
        )
        built = build_engine(directory, tokenizers, search, settings)
        # The second engine is loaded later; by then the program may work in another folder.
        directory.path = directory.path.absolute()
        second = partial(build_second_engine, directory, settings)
        cutter = TextCutter(tokenizers, reader, max_length=description.max_length, terms=terms)
        self._put_together(SentenceTranslator(built, tokenizers, terms, second), cutter, search)

    @classmethod
    def from_engine(
        cls,
        engine: Engine,
        tokenizers: TokenizerPair,
        *,
        languages: tuple[str, str],
        max_length: int,
        search: SearchConfig | None = None,
        terms: TermFinder | None = None,
        split_sentences: bool = True,
    ) -> "Translator":
        """Build a translator from parts that are already in memory.

        Without `terms`, it does not keep any.
        """
        terms = replace(terms or TermFinder(protects=False), languages=languages)
        reader = TextReader(*languages, splits_sentences=split_sentences)
        cutter = TextCutter(tokenizers, reader, max_length=max_length, terms=terms)
        translator = cls.__new__(cls)
        translator._put_together(
            SentenceTranslator(engine, tokenizers, terms), cutter, search or SearchConfig()
        )
        return translator

    def _put_together(
        self, sentence_translator: SentenceTranslator, cutter: TextCutter, search: SearchConfig
    ) -> None:
        self.search = search
        self.source_language = cutter.reader.source
        self.glossary = cutter.terms.glossary
        self._sentence_translator = sentence_translator
        self._cutter = cutter
        self._tokenizers = cutter.tokenizers
        self._max_length = cutter.max_length
        self._process = os.getpid()

    @property
    def engine(self) -> str:
        """The engine, its version, and where it computes."""
        return self._sentence_translator.engine.name

    def outlive_its_files(self, warn: Callable[[DragomanError], None]) -> None:
        """Go on without PyTorch where it or the weights that it would need are not as before.

        What a copy for CTranslate2 translates needs PyTorch only for some sentences, which may come
        days after the copy was loaded. Until then somebody may have put a newer model there.

        Args:
            warn: Called when that is found out, with the reason.
        """
        load = self._sentence_translator.load_second_engine

        def load_or_warn() -> Engine | None:
            try:
                return load()
            except (ModelError, EngineError) as error:
                warn(error)
                return None

        self._sentence_translator.load_second_engine = load_or_warn

    @property
    def searches_at_once(self) -> int:
        """How many threads can usefully translate at once; any more would wait."""
        return self._sentence_translator.engine.searches_at_once

    @overload
    def __call__(self, text: str) -> str: ...
    @overload
    def __call__(self, text: list[str]) -> list[str]: ...
    def __call__(self, text: str | list[str]) -> str | list[str]:
        """Translate a text, or each text of a list."""
        texts = [text] if isinstance(text, str) else text
        translations = [translation.text for translation in self.translate(texts)]
        return translations[0] if isinstance(text, str) else translations

    def translate(
        self, texts: Iterable[str], search: SearchConfig | None = None
    ) -> Iterator[Translation]:
        """Translate any number of texts in constant memory, and yield one for each, in order.

        Raises:
            TypeError: a single text is given, of which each letter would be taken for a text; or
                one of the texts is none, such as the NaN that tables have in empty cells.
        """
        check_process(self._process)
        if isinstance(texts, str):
            raise TypeError("translate takes several texts; for one, write [text]")
        search = search or self.search
        for chunk in batched(_only_text(texts), self._sentence_translator.engine.texts_at_once):
            cut = self._cutter.cut(chunk)
            sentences = [sentence for text in cut for sentence in text.sentences]
            found = iter(self._sentence_translator.translate(sentences, search))
            for text in cut:
                yield text.put_together(found, drawn=search.samples)

    def source_words(self, text: str) -> list[str]:
        """Cut a sentence in the source language into words; see `dragoman.words`.

        Alignments cut each part of a text so; all at once may give others without spaces.
        """
        return cut_words(text, self._tokenizers.source)

    def target_words(self, text: str) -> list[str]:
        """Cut a sentence in the target language into words, as alignments do.

        `judge` leaves out what surrounds the sentence before it does the same.
        """
        return cut_words(text, self._tokenizers.target)

    def complete(self, text: str, prefix: str) -> Alternative:
        """Translate a sentence so that the translation begins with a prefix.

        Placeholders, codes, numbers, addresses and glossary terms that the prefix lacks are sought
        after it; any that are still lost are reported as a fault. Tags are treated as text. The
        model is shown the sentence as `translate` shows it, or all of one that `translate` leaves
        as it is; what is left out around it is put back, and so are its capitals, unless the prefix
        begins without them.

        Args:
            text: One sentence; it is not split.
            prefix: How the translation begins. Its last word may be continued, as white space at
                its end does not count; `ways_to_continue` starts a new word.

        Raises:
            SentenceError: one is too long, or the model cannot write the prefix.
        """
        sentence = self._prepare(text)
        begun = sentence.read_beginning(encodable(prefix))
        if begun.stays:
            return join((), begun.before)
        source, prefix_ids = self._begin(sentence, begun)
        if not source.ids:  # an engine would leave the beginning out, too
            return join((), begun.surround(begun.content))
        search = replace(self.search, n_best=1)
        (best,) = self._sentence_translator.complete(source, prefix_ids, search)
        whole = sentence.continue_from(begun).surround(best.text)
        return replace(best, text=whole, parts=(whole,))

    def ways_to_continue(self, text: str, prefix: str, *, count: int = 8) -> list[Way]:
        """Return other words that could follow a prefix, and the translations that they lead to.

        Words are what spaces separate; in a language that has none between words, such as Chinese,
        they are what the model writes at once. Before a list marker, or anything else that stays as
        it is in front of a sentence, there is one: that marker. A sentence that stays as it is has
        none, and neither has what follows a sentence, such as emoji.

        Args:
            text: One sentence; it is not split.
            prefix: How its translation begins, up to the end of a word; empty for the first one.
            count: How many tokens that could follow are tried. There are fewer words, as some begin
                the same word, or continue the word before.

        Returns:
            The most probable word first.

        Raises:
            MarkedUpError: the sentence has tags or escapes.
            SentenceError: it is too long, or the model cannot write the prefix.
        """
        if self._cutter.terms.protects and is_marked_up(text):
            raise MarkedUpError(
                "no other words are given for a sentence with tags or escapes, which would be read "
                "as text; give the sentence without them"
            )
        sentence = self._prepare(text)
        begun = sentence.read_beginning(encodable(prefix))
        if sentence.stays or sentence.is_over(begun):
            return []
        source, prefix_ids = self._begin(sentence, begun)
        search = replace(self.search, beam_size=1, n_best=1)
        tokenizer = self._tokenizers.target
        found = self._sentence_translator.continue_in_ways(source, prefix_ids, search, count=count)
        translated = tokenizer.encode_batch([each.text for each in found])
        judged = self._sentence_translator.engine.log_probabilities(
            [source.ids] * len(found), translated
        )
        ways: dict[str, Way] = {}
        before = begun.surround_words(judge_words(prefix_ids, [0.0] * len(prefix_ids), tokenizer))
        whole = sentence.continue_from(begun)
        for each, tokens, values in zip(found, translated, judged, strict=True):
            words = whole.surround_words(judge_words(tokens, values, tokenizer))
            if _begins_with(words, before) and len(words) > len(before):
                word = words[len(before)]
                way = Way(word, whole.surround(each.text), each.faults)
                ways.setdefault(word.text, way)
        return sorted(ways.values(), key=lambda way: -way.word.confidence)

    def judge(self, text: str, translation: str) -> list[Word]:
        """Tell how sure the model is of each word of a translation, whoever made it.

        Both are treated as one sentence, and tags as text. The model is shown the sentence as
        `translate` shows it: in small letters, names included, if it is in capitals, and without
        what surrounds it. The translation is shown the same way where it has these too; what
        surrounds it has confidence 1.

        Raises:
            SentenceError: one is longer than any that the model has seen.
        """
        (judged,) = self.judge_pairs([(text, translation)])
        if judged is None:
            raise self._too_long()
        return list(judged.words)

    def judge_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Judgement | None]:
        """Tell how sure the model is of any number of translations, in constant memory.

        Args:
            pairs: Sentences with their translations, as `judge` takes them. The model is not asked
                about a sentence that stays as it is and has the same text as its translation.

        Yields:
            One for each, in order: None if it has more tokens than the model has seen.
        """
        check_process(self._process)
        engine = self._sentence_translator.engine
        for chunk in batched(pairs, engine.texts_at_once):
            sentences = [self._prepare(text) for text, _ in chunk]
            translations = [
                sentence.read(encodable(translation))
                for sentence, (_, translation) in zip(sentences, chunk, strict=True)
            ]
            sources = self._tokenizers.source.encode_batch([each.content for each in sentences])
            targets = self._tokenizers.target.encode_batch([each.content for each in translations])
            asked = [
                not translated.stays and max(map(len, ids)) <= self._max_length
                for translated, *ids in zip(translations, sources, targets, strict=True)
            ]
            judged = iter(
                engine.log_probabilities(
                    list(compress(sources, asked)), list(compress(targets, asked))
                )
            )
            for translated, target, is_asked in zip(translations, targets, asked, strict=True):
                if not (is_asked or translated.stays):
                    yield None
                    continue
                values = next(judged) if is_asked else ()
                words = judge_words(target, values, self._tokenizers.target)
                yield Judgement(
                    words=tuple(translated.surround_words(words)),
                    log_probability=math.fsum(values),
                    num_tokens=len(values),
                )

    def _prepare(self, text: str) -> PreparedSentence:
        """Choose what the model is shown of a sentence."""
        check_process(self._process)
        return prepare(encodable(text), self._cutter.terms)

    def _begin(
        self, sentence: PreparedSentence, begun: PreparedSentence
    ) -> tuple[Sentence, list[int]]:
        """Encode a sentence and the beginning of its translation as tokens.

        Raises:
            SentenceError: one is too long, or the model cannot write the beginning.
        """
        ids = self._tokenizers.source.encode(sentence.content)
        prefix = self._tokenizers.target.encode(begun.content)
        if max(len(ids), len(prefix)) > self._max_length:
            raise self._too_long()
        if self._tokenizers.target.special_ids.unk in prefix:
            raise SentenceError(
                f"the model cannot begin with {begun.content!r}: it has letters or words that are "
                "not in the vocabulary"
            )
        return Sentence(sentence.content, ids), prefix

    def _too_long(self) -> SentenceError:
        return SentenceError(
            f"the sentence or its translation has more than {self._max_length} tokens, the most "
            "that the model has seen; give a shorter one"
        )


def check_process(loaded_in: int) -> None:
    """Refuse to wait for threads that a fork did not copy, as that would never end.

    Args:
        loaded_in: The id of the process that loaded the model.

    Raises:
        ProcessError: this process was forked from it.
    """
    if os.getpid() != loaded_in:
        raise ProcessError(
            "the model was loaded in another process, and its threads did not follow into "
            'this one; start processes with "spawn", or fork before a model is loaded'
        )


def _only_text(texts: Iterable[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts should be str; at position {place} is {text!r}")
        yield text


def _begins_with(words: Sequence[Word], beginning: Sequence[Word]) -> bool:
    return [word.text for word in words[: len(beginning)]] == [word.text for word in beginning]
