"""Translate together what arrives together."""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from dragoman.decoding.config import SearchConfig
from dragoman.errors import DragomanError
from dragoman.serving.priority import give_way
from dragoman.serving.questions import Questions
from dragoman.serving.refusal import RefusalError
from dragoman.serving.settings import Settings
from dragoman.serving.turnstile import Turnstile
from dragoman.translation import Translation
from dragoman.translator import Translator

TEXTS_AT_ONCE = 4
"""For a request that is told of each text: it waits for the first ones, not for the last."""

CHARACTERS_PER_BATCH = 2000
"""About 500 tokens. More is hardly faster, and lets a newcomer wait for longer."""

CHARACTERS_PER_TURN = 100
"""About a sentence: the least that each waiting request gets translated in its turn."""

MOST_WEIGHT = 0.2
"""Weight of a full batch that was slower, in the moving average of seconds per character."""

MOST_TIMES = 4.0
"""A batch counts as at most this many times slower than expected, lest one hard text spoil the
average."""

WEIGHT_OF_FASTER = 0.5
"""Weight of a batch that was faster: a full one would have taken no longer per character."""

Result = TypeVar("Result")

Heard = Callable[[int, Translation], None]
"""Called with the index of a text and its translation, as soon as that is ready."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Job:
    """The texts of one request, and their translations so far."""

    texts: Sequence[str]
    search: SearchConfig
    answer: "asyncio.Future[list[Translation]]"
    heard: Heard | None = None
    num_started: int = 0
    found: dict[int, Translation] = field(default_factory=dict)
    waiting_characters: int = field(init=False)
    """Characters of the texts that were not started."""

    def __post_init__(self) -> None:
        self.waiting_characters = sum(map(len, self.texts))

    @property
    def waits(self) -> bool:
        """Whether there is something to start, and somebody who still wants it."""
        return self.num_started < len(self.texts) and not self.answer.done()

    def start_next(self) -> int:
        """Take the next text, and return its index."""
        place = self.num_started
        self.num_started += 1
        self.waiting_characters -= len(self.texts[place])
        return place


class Batcher:
    """Translates texts of many requests with one model, in threads of its own.

    Waiting requests take turns: for every batch, one text of each request is taken until the batch
    is full, so a single sentence is ready after a batch or two, whatever is queued before it. A
    text's translation does not depend on the others in its batch, as `Translator` promises. If a
    batch fails, its requests are tried one by one, so that only the one to blame fails.
    """

    def __init__(self, translator: Translator, settings: Settings) -> None:
        self._translator = translator
        self._num_threads = translator.searches_at_once
        self._settings = settings
        self._arriving: list[int] = []
        self._num_kept = 0
        self._way_out = Turnstile()
        self._jobs: deque[_Job] = deque()
        self._filled = asyncio.Event()
        self._seconds_per_character = 2e-4
        self._threads = ThreadPoolExecutor(
            self._num_threads, thread_name_prefix="translate", initializer=give_way
        )
        self._asking = Questions(self._threads, "asking", retry_after=1)
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._num_threads)]

    def count_waiting(self) -> int:
        """Count the characters that nobody has begun to translate yet."""
        return sum(self._waiting())

    @property
    def num_requests(self) -> int:
        """How many requests have a place here: being prepared, waiting, or being translated."""
        return len(self._arriving) + self._num_kept

    def _waiting(self) -> list[int]:
        """Count the waiting characters of each request."""
        return [*self._arriving, *(job.waiting_characters for job in self._jobs if job.waits)]

    @contextmanager
    def room_for(self, num_characters: int) -> Iterator[None]:
        """Reserve room for texts that are being prepared for `translate`.

        Raises:
            RefusalError: there is none.
        """
        self.check_room(num_characters)
        self._arriving.append(num_characters)
        try:
            yield
        finally:
            self._arriving.remove(num_characters)

    def check_room(self, num_characters: int, *, num_others: int = 0) -> None:
        """Refuse a text that is too much to keep, or whose turn would not come soon.

        As requests take turns, each waits for no more of another one than it has itself; so a book
        waits for other books, and a sentence does not.

        Args:
            num_characters: Length of the text.
            num_others: Requests that came before and have no place yet; each counts as a sentence.

        Raises:
            RefusalError: too many texts wait already.
        """
        waiting = self._waiting()
        if not waiting and not num_others:  # even the longest text may come in
            return
        most = max(num_characters, CHARACTERS_PER_TURN)
        turns = sum(min(other, most) for other in waiting) + num_others * CHARACTERS_PER_TURN
        ahead = turns * self._seconds_per_character
        own = num_characters * self._seconds_per_character
        total = sum(waiting) + num_characters
        is_full = bool(waiting) and total > self._settings.max_waiting_characters
        if is_full or ahead > max(self._settings.max_wait, own):
            raise RefusalError(
                429, "too many texts are waiting; come back later", retry_after=math.ceil(ahead)
            )

    async def translate(
        self, texts: Sequence[str], search: SearchConfig, heard: Heard | None = None
    ) -> list[Translation]:
        """Translate texts when it is their turn. If cancelled, give up their place.

        Args:
            texts: Any number.
            search: How to search.
            heard: Called for each text as soon as it is translated, in any order.

        Raises:
            DragomanError: the search cannot be done.
        """
        if not texts:
            return []
        job = _Job(texts, search, asyncio.get_running_loop().create_future(), heard)
        self._jobs.append(job)
        self._filled.set()
        self._num_kept += 1
        try:
            found = await job.answer  # a job whose answer nobody awaits is skipped
            await self._way_out.go_through()
        finally:
            self._num_kept -= 1
        return found

    async def ask(self, question: Callable[[Translator], Result]) -> Result:
        """Ask the translator something, in one of the threads that translate.

        Raises:
            RefusalError: too many others ask already.
        """
        return await self._asking.ask(lambda: question(self._translator))

    async def close(self) -> None:
        """Stop; what was not translated never will be."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._threads.shutdown(wait=True)

    async def _work(self) -> None:
        """Translate batch after batch."""
        while True:
            await self._filled.wait()
            if batch := self._next_batch():
                await self._translate(batch)
            else:
                self._filled.clear()

    def _next_batch(self) -> list[tuple[_Job, int]]:
        """Take a text of each request in turn, as many as fit; all have the same search options."""
        batch: list[tuple[_Job, int]] = []
        others: list[_Job] = []
        room = CHARACTERS_PER_BATCH
        while self._jobs and room > 0:
            job = self._jobs.popleft()
            if not job.waits:
                continue
            if batch and (job.search != batch[0][0].search or _has_enough(job, batch)):
                others.append(job)
                continue
            place = job.start_next()
            batch.append((job, place))
            room -= len(job.texts[place])
            if job.waits:
                self._jobs.append(job)
        self._jobs.extendleft(reversed(others))  # it is their turn next
        return batch

    async def _translate(self, batch: list[tuple[_Job, int]]) -> None:
        """Translate a batch, and answer the requests that are complete."""
        texts, search = [job.texts[i] for job, i in batch], batch[0][0].search
        began = time.monotonic()
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: list(self._translator.translate(texts, search))
            )
        except Exception as error:
            await self._blame(batch, error)
            return
        self._learn_speed(time.monotonic() - began, sum(map(len, texts)))
        for (job, i), translation in zip(batch, found, strict=True):
            job.found[i] = translation
            if job.heard and not job.answer.done():
                job.heard(i, translation)
            if len(job.found) == len(job.texts) and not job.answer.done():
                job.answer.set_result([job.found[i] for i in range(len(job.texts))])

    def _learn_speed(self, seconds: float, num_characters: int) -> None:
        """Update the moving average of seconds per character.

        A small batch takes longer per character than a full one: if it was slow, that says little
        about how long a crowd takes; if it was fast, it says much.
        """
        known = self._seconds_per_character
        found = min(seconds / max(1, num_characters) / self._num_threads, MOST_TIMES * known)
        weight = MOST_WEIGHT * min(1.0, num_characters / CHARACTERS_PER_BATCH)
        if found < known:
            weight = WEIGHT_OF_FASTER
        self._seconds_per_character += weight * (found - known)

    async def _blame(self, batch: list[tuple[_Job, int]], error: Exception) -> None:
        """Find which requests of a failed batch make it fail, and tell them."""
        jobs = list(dict.fromkeys(job for job, _ in batch))
        if len(jobs) > 1:
            for job in jobs:
                await self._translate([(other, i) for other, i in batch if other is job])
            return
        if not isinstance(error, DragomanError):
            _log.error("a translation failed", exc_info=error)
        if not jobs[0].answer.done():
            jobs[0].answer.set_exception(error)


def _has_enough(job: _Job, batch: list[tuple[_Job, int]]) -> bool:
    """Tell whether a request that listens has all in a batch that it may wait for at once."""
    return job.heard is not None and sum(other is job for other, _ in batch) >= TEXTS_AT_ONCE
