"""What all protocols ask for: texts in, translations out, within the limits of the server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from dragoman.decoding.config import SearchConfig
from dragoman.languages.detection import Detection, Detector
from dragoman.markup.passage import Passage
from dragoman.markup.spacing import unwrap
from dragoman.serving.batching import Batcher, Heard
from dragoman.serving.insight import Insight
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.progress import Piece, Progress
from dragoman.serving.questions import Questions
from dragoman.serving.readers import PLAIN_TEXT, Reader
from dragoman.serving.refusal import RefusalError
from dragoman.serving.settings import Settings
from dragoman.translation import Translation, join_alternatives, unasked
from dragoman.translator import Translator

_SURE_OF_TARGET = 0.95
"""How probable it must be that a text is in the target language to leave it as it is: whoever asks
for a translation usually needs one."""

_SURE_WITHOUT_LIST = 0.9999
"""The same, if it could be in a language that is only known to be unlike the target, or if nothing
more is known of the target."""

_CHARACTERS_READ_AT_ONCE = 300
"""A sentence takes a millisecond, as long as switching threads; a book takes seconds, in which
others are answered."""

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a client wants."""

    texts: Sequence[str]
    target: str
    """A language, in any spelling."""
    source: str | None = None
    """A language; None if the server is to detect it."""
    num_alternatives: int = 1
    """Translations of each text, the best included."""
    reader: Reader = PLAIN_TEXT
    num_characters: int | None = None
    """What people read of the texts, if that is less than all of it."""
    heard: Callable[[Piece], None] | None = None
    """Called with each piece of the translation of a single text, in order, while it is made."""

    def count_characters(self, texts: Sequence[str]) -> int:
        """Count what limits are about, in all texts or in some. An empty text counts as one."""
        if self.num_characters is None:
            return sum(max(1, len(text)) for text in texts)
        return self.num_characters


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client gets for one text."""

    translation: Translation
    target: str
    source: str
    detection: Detection | None
    """How the source language was detected, if the client did not name it."""


class _Group(NamedTuple):
    """The texts of an order that are in one language."""

    source: str
    model: ServedModel | None
    places: list[tuple[int, Detection | None]]
    """Of each, its place in the order, and how its language was detected."""
    texts: list[str]
    passages: list[Passage]
    """The texts, taken apart; none if they are not to be translated."""


class TranslationService:
    """Translates for all protocols. Create and close it inside a running event loop."""

    def __init__(self, models: Models, settings: Settings, metrics: Metrics) -> None:
        self.models = models
        self.settings = settings
        self.metrics = metrics
        self.detector = Detector(models.languages)
        self._batchers = {model.pair: Batcher(model.translator, settings) for model in models.all}
        for pair, batcher in self._batchers.items():
            metrics.watch_waiting("-".join(pair), batcher.count_waiting)
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="beside")  # as `Insight` demands
        self._looking = Questions(self._beside, "looking inside", retry_after=2)

    async def close(self) -> None:
        """Stop all threads."""
        self._beside.shutdown(wait=True, cancel_futures=True)
        await asyncio.gather(*(batcher.close() for batcher in self._batchers.values()))

    async def translate(self, order: Order) -> list[Answer]:
        """Translate texts; one answer for each, in order.

        Raises:
            RefusalError: a language is not served or not recognised, or a limit is exceeded.
            DragomanError: the engine cannot search like this.
        """
        order = self._accept(order)
        async with self.in_time():
            with self._room_for(order) as rooms:
                groups = await _beside_if_long(order.texts, lambda: self._read(order))
                # Before that, what documents say in attributes could not be counted. A sentence
                # with tags is there twice.
                passages = [passage for group in groups for passage in group.passages]
                self._check(sum(len(text) for found in passages for text in found.pieces) // 2)
                working = [asyncio.create_task(self._translate(group, order)) for group in groups]
                try:
                    await asyncio.sleep(0)  # until each has its place in a queue
                    rooms.close()
                    found = await asyncio.gather(*working)
                finally:
                    for task in working:  # if one has failed, nobody wants the others
                        task.cancel()
        answers = {
            place: Answer(
                translation=translation,
                target=order.target,
                source=group.source,
                detection=detection,
            )
            for group, translations in zip(groups, found, strict=True)
            for (place, detection), translation in zip(group.places, translations, strict=True)
        }
        return [answers[place] for place in range(len(order.texts))]

    def check_room(self, order: Order) -> Order:
        """Refuse at once what `translate` would refuse.

        Returns:
            The order, with its languages as the models write them.

        Raises:
            RefusalError: a language is not served, or a limit is exceeded.
        """
        order = self._accept(order)
        with self._room_for(order):
            return order

    def check_crowd(self, num_requests: int) -> None:
        """Refuse every request while no model can take even one more sentence.

        Args:
            num_requests: Requests being served; those without a place in a queue want one.

        Raises:
            RefusalError: all queues are full, or will be.
        """
        num_others = num_requests - sum(b.num_requests for b in self._batchers.values())
        for batcher in self._batchers.values():
            try:
                batcher.check_room(1, num_others=max(0, num_others))
            except RefusalError as error:
                refusal = error
            else:
                return
        raise refusal

    def _accept(self, order: Order) -> Order:
        """Refuse an order that is too long, and write its languages as the models do."""
        self._check(order.count_characters(order.texts))
        if order.source is None:
            return replace(order, target=self.models.find_target(order.target))
        source, target = self.models.find_pair(order.source, order.target)
        return replace(order, source=source, target=target)

    def _room_for(self, order: Order) -> ExitStack:
        """Reserve room for texts with every model that may be asked to translate them."""
        if order.source is None:
            sources = self.models.sources(order.target)
            if not sources:
                raise RefusalError(400, f"no model translates to {order.target}")
        else:
            sources = [order.source]
        num_characters = order.count_characters(order.texts)
        with ExitStack() as rooms:
            for source in sources:
                if source != order.target:
                    model = self.models.find(source, order.target)
                    rooms.enter_context(self._batchers[model.pair].room_for(num_characters))
            return rooms.pop_all()

    def _read(self, order: Order) -> list[_Group]:
        """Detect the languages of texts, and take the texts apart."""
        places: dict[str, list[tuple[int, Detection | None]]] = {}
        for i, text in enumerate(order.texts):
            source, detection = self._source_of(text, order)
            places.setdefault(source, []).append((i, detection))
        groups = []
        for source, chosen in places.items():
            model = None if source == order.target else self.models.find(source, order.target)
            texts = [order.texts[i] for i, _ in chosen]
            passages = (
                []
                if model is None
                else [order.reader.take_apart(text, model.text_reader) for text in texts]
            )
            groups.append(_Group(source, model, chosen, texts, passages))
        return groups

    async def ask(
        self,
        languages: tuple[str, str],
        texts: Sequence[str],
        question: Callable[[Translator], Result],
    ) -> Result:
        """Ask the translator between two languages, in any spelling, something about one sentence.

        Raises:
            RefusalError: a language is not served, a limit is exceeded, or too many are asking.
            SentenceError: the sentence is longer than any that the model has seen.
        """
        self.check_length(texts)
        batcher = self._batchers[self._find(languages).pair]
        async with self.in_time():
            return await batcher.ask(question)

    async def look(
        self,
        languages: tuple[str, str],
        texts: Sequence[str],
        question: Callable[[Insight], Result],
    ) -> Result:
        """Look into the model between two languages, in any spelling, beside the translating.

        Raises:
            RefusalError: a language is not served, a limit is exceeded, too many are looking, or
                there is nothing to see.
        """
        self.check_length(texts)
        insight = self._find(languages).insight
        async with self.in_time():
            return await self._looking.ask(lambda: question(insight))

    def _find(self, languages: tuple[str, str]) -> ServedModel:
        return self.models.find(*self.models.find_pair(*languages))

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """Give up what takes longer than the server allows.

        Raises:
            RefusalError: it does.
        """
        try:
            async with asyncio.timeout(self.settings.timeout):
                yield
        except TimeoutError:
            raise RefusalError(
                504, f"the translation was not ready in {self.settings.timeout:.0f} seconds"
            ) from None

    def check_length(self, texts: Sequence[str]) -> None:
        """Refuse more text than the server allows."""
        self._check(sum(max(1, len(text)) for text in texts))

    def _check(self, num_characters: int) -> None:
        limit = self.settings.max_characters
        if num_characters > limit:
            raise RefusalError(
                413, f"{num_characters} characters are too many; this server takes {limit} at once"
            )

    def _source_of(self, text: str, order: Order) -> tuple[str, Detection | None]:
        """Resolve the language of a text; what nothing is known about comes from a source."""
        if order.source is not None:
            return order.source, None
        text, target = order.reader.visible(text), order.target
        sources = self.models.sources(target)
        detection = self.detector.detect(text, among=[*sources, target])
        tells_apart = all(self.detector.tells_apart(source, target) for source in sources)
        enough = _SURE_OF_TARGET if tells_apart else _SURE_WITHOUT_LIST
        if detection.language == target and detection.confidence < enough:
            detection = self.detector.detect(text, among=sources)
        return detection.language, detection

    async def _translate(self, group: _Group, order: Order) -> list[Translation]:
        """Translate texts of one language; without a model they are in the target language."""
        if group.model is None:
            return list(map(_unchanged, group.texts))
        model = group.model
        # A break that a reader has left in a piece only wraps it; a translator might cut there.
        pieces = [unwrap(piece) for passage in group.passages for piece in passage.pieces]
        search = _search(model, order.num_alternatives)
        batcher, heard = self._batchers[model.pair], _listen(group.passages[0], model.target, order)
        translated = iter(await batcher.translate(pieces, search, heard))
        num_characters = order.count_characters(group.texts)
        self.metrics.count_characters("-".join(model.pair), num_characters)
        return await _beside_if_long(
            group.texts,
            lambda: [
                _assemble(text, passage, [next(translated) for _ in passage.pieces])
                for text, passage in zip(group.texts, group.passages, strict=True)
            ],
        )


async def _beside_if_long(texts: Sequence[str], work: Callable[[], Result]) -> Result:
    """Do some work with texts, in another thread if it takes long."""
    if sum(map(len, texts)) <= _CHARACTERS_READ_AT_ONCE:
        return work()
    return await asyncio.to_thread(work)


def _listen(passage: Passage, target: str, order: Order) -> Heard | None:
    """Report the pieces of a text to whoever ordered it, if they want to hear."""
    if order.heard is None:
        return None
    progress = Progress(passage.pieces, target, order.heard)
    return lambda place, translation: progress.note(place, translation.text)


def _search(model: ServedModel, num_alternatives: int) -> SearchConfig:
    """Widen the search of a model if it would find fewer alternatives than are wanted."""
    search = model.translator.search
    width = search.beam_size if search.samples else max(search.beam_size, num_alternatives)
    return replace(search, n_best=num_alternatives, beam_size=width)


def _unchanged(text: str) -> Translation:
    same = unasked(text)
    return Translation(source=text, alternatives=(same,), parts=same.parts, cut=False)


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
