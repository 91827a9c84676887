"""What all protocols ask for: texts in, translations out, within the limits of the server."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dragoman.decoding.config import SearchConfig
from dragoman.markup.passage import Passage
from dragoman.sentence_translator import Alternative, join_alternatives
from dragoman.serving.batching import Batcher, Heard
from dragoman.serving.detection import Detection, Detector
from dragoman.serving.insight import Insight
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.one_by_one import OneByOne
from dragoman.serving.progress import Piece, Progress
from dragoman.serving.readers import Reader, read_plain_text
from dragoman.serving.refusal import RefusalError
from dragoman.serving.settings import Settings
from dragoman.translator import Translation, Translator

_SURE_OF_TARGET = 0.95
"""How probably a text must be in the target language to be left as it is: who asks
for a translation usually needs one."""

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a client wants."""

    texts: Sequence[str]
    target: str
    """A language, in any spelling."""
    source: str | None = None
    """A language; None if the server shall find out."""
    num_alternatives: int = 1
    """Translations of each text, the best included."""
    reader: Reader = read_plain_text
    heard: Callable[[Piece], None] | None = None
    """Is told of each piece of the translation of a single text, in order, while it is made."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client gets for one text."""

    translation: Translation
    target: str
    source: str
    detection: Detection | None
    """How the source language was found out, if the client did not name it."""


class TranslationService:
    """Translates for all protocols. It is made inside a running event loop, and closed there."""

    def __init__(self, models: Models, settings: Settings, metrics: Metrics) -> None:
        self.models = models
        self.settings = settings
        self.metrics = metrics
        self.detector = Detector(models.languages)
        self._batchers = {
            model.pair: Batcher(
                model.translator,
                num_threads=model.num_threads,
                max_waiting_characters=settings.max_waiting_characters,
            )
            for model in models.all
        }
        self._beside = OneByOne()

    async def close(self) -> None:
        """Stop all threads."""
        self._beside.close()
        await asyncio.gather(*(batcher.close() for batcher in self._batchers.values()))

    async def translate(self, order: Order) -> list[Answer]:
        """Translate texts; one answer for each, in order.

        Raises:
            RefusalError: a language is not served or not recognised, or a limit is met.
            DragomanError: the engine cannot search so.
        """
        self.check_length(order.texts)
        target = self.models.find_language(order.target)
        found = [self._source_of(text, target, order.source) for text in order.texts]
        by_source: dict[str, list[int]] = {}
        for i, (source, _) in enumerate(found):
            by_source.setdefault(source, []).append(i)
        models = {s: self.models.find(s, target) for s in by_source if s != target}
        try:
            async with asyncio.timeout(self.settings.timeout):
                done = await asyncio.gather(
                    *(
                        self._translate([order.texts[i] for i in chosen], models.get(source), order)
                        for source, chosen in by_source.items()
                    )
                )
        except TimeoutError:
            raise self._too_slow() from None
        places = [i for chosen in by_source.values() for i in chosen]
        ordered = dict(zip(places, [t for group in done for t in group], strict=True))
        return [
            Answer(translation=ordered[i], target=target, source=source, detection=detection)
            for i, (source, detection) in enumerate(found)
        ]

    async def ask(
        self,
        languages: tuple[str, str],
        texts: Sequence[str],
        question: Callable[[Translator], Result],
    ) -> Result:
        """Ask the translator between two languages, in any spelling, something about one sentence.

        Raises:
            RefusalError: a language is not served, a limit is met, or too many are asking.
            SentenceError: the sentence is longer than any that the model has seen.
        """
        self.check_length(texts)
        batcher = self._batchers[self._find(languages).pair]
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await batcher.ask(question)
        except TimeoutError:
            raise self._too_slow() from None

    async def look(
        self,
        languages: tuple[str, str],
        texts: Sequence[str],
        question: Callable[[Insight], Result],
    ) -> Result:
        """Look into the model between two languages, in any spelling, beside the translating.

        Raises:
            RefusalError: a language is not served, a limit is met, too many are looking, or there
                is nothing to be seen.
        """
        self.check_length(texts)
        insight = self._find(languages).insight
        if insight is None:
            raise RefusalError(400, "this server cannot look inside this model")
        try:
            async with asyncio.timeout(self.settings.timeout):
                return await self._beside.do(lambda: question(insight))
        except TimeoutError:
            raise self._too_slow() from None

    def _find(self, languages: tuple[str, str]) -> ServedModel:
        source, target = map(self.models.find_language, languages)
        return self.models.find(source, target)

    def _too_slow(self) -> RefusalError:
        return RefusalError(
            504, f"the translation was not ready in {self.settings.timeout:.0f} seconds"
        )

    def check_length(self, texts: Sequence[str]) -> None:
        """Refuse more text than the server allows."""
        num_characters = sum(max(1, len(text)) for text in texts)
        limit = self.settings.max_characters
        if num_characters > limit:
            raise RefusalError(
                413, f"{num_characters} characters are too many; this server takes {limit} at once"
            )

    def _source_of(self, text: str, target: str, named: str | None) -> tuple[str, Detection | None]:
        """Resolve the language of a text; what nothing is known about comes from a source."""
        if named is not None:
            return self.models.find_language(named), None
        sources = self.models.sources(target)
        if not sources:
            raise RefusalError(400, f"no model translates to {target}")
        detection = self.detector.detect(text, among=[*sources, target])
        if detection.language == target and detection.confidence < _SURE_OF_TARGET:
            detection = self.detector.detect(text, among=sources)
        return detection.language, detection

    async def _translate(
        self, texts: list[str], model: ServedModel | None, order: Order
    ) -> list[Translation]:
        """Translate texts of one language; without a model they are in the target language."""
        if model is None:
            return [_unchanged(text, 1) for text in texts]
        # A long text takes a second to take apart, in which others are answered.
        passages = await asyncio.to_thread(lambda: [order.reader(text, model) for text in texts])
        wanted = [p for passage in passages for p in passage.pieces if _says_something(p)]
        search = _search(model, order.num_alternatives)
        batcher, heard = self._batchers[model.pair], _listen(passages[0], model.target, order)
        translated = iter(await batcher.translate(wanted, search, heard))
        self.metrics.count_characters("-".join(model.pair), sum(map(len, texts)))
        return [
            _assemble(
                text,
                passage,
                [
                    next(translated) if _says_something(p) else _unchanged(p, search.n_best)
                    for p in passage.pieces
                ],
            )
            for text, passage in zip(texts, passages, strict=True)
        ]


def _listen(passage: Passage, target: str, order: Order) -> Heard | None:
    """Tell whoever gave an order of the pieces of its text, if they want to hear."""
    if order.heard is None:
        return None
    progress = Progress(passage.pieces, target, order.heard)
    places = []
    for place, piece in enumerate(passage.pieces):
        if _says_something(piece):
            places.append(place)
        else:
            progress.note(place, piece)
    return lambda i, translation: progress.note(places[i], translation.text)


def _says_something(text: str) -> bool:
    """Tell whether there is a word; models are at a loss with numbers and pictures alone."""
    return any(map(str.isalpha, text))


def _search(model: ServedModel, num_alternatives: int) -> SearchConfig:
    """Widen the search of a model if it would find fewer alternatives than are wanted."""
    search = model.translator.search
    width = search.beam_size if search.samples else max(search.beam_size, num_alternatives)
    return replace(search, n_best=num_alternatives, beam_size=width)


def _unchanged(text: str, num_alternatives: int) -> Translation:
    same = Alternative(
        text=text,
        parts=(text.strip(),),
        score=0.0,
        log_probability=0.0,
        num_tokens=0,
        finished=True,
        faults=(),
    )
    return Translation(
        source=text, alternatives=(same,) * num_alternatives, parts=(text.strip(),), cut=False
    )


def _assemble(text: str, passage: Passage, pieces: list[Translation]) -> Translation:
    """Put the translations of the pieces of a text together."""
    return Translation(
        source=text,
        alternatives=join_alternatives(
            [piece.alternatives for piece in pieces], passage.put_together
        ),
        parts=tuple(part for piece in pieces for part in piece.parts),
        cut=any(piece.cut for piece in pieces),
    )
