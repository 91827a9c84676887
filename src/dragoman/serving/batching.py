"""Translate together what arrives together."""

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from dragoman.config import DragomanError
from dragoman.decoding.config import SearchConfig
from dragoman.serving.refusal import RefusalError
from dragoman.translator import Translation, Translator

TEXTS_AT_ONCE = 4
"""Of a request that is told of each text: it waits for the first ones, not for the last."""

CHARACTERS_PER_BATCH = 2000
"""About 500 tokens. More is hardly faster, and lets a newcomer wait for longer."""

MOST_ASKING = 8
"""Questions about single sentences that may wait for a thread."""

Result = TypeVar("Result")

Heard = Callable[[int, Translation], None]
"""Is told of a translation, by the place of its text, as soon as it is there."""

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Job:
    """The texts of one request, and what has come of them."""

    texts: Sequence[str]
    search: SearchConfig
    answer: "asyncio.Future[list[Translation]]"
    heard: Heard | None = None
    num_started: int = 0
    found: dict[int, Translation] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        """Whether there is something to start, and somebody to whom it matters."""
        return self.num_started < len(self.texts) and not self.answer.done()

    @property
    def waiting_characters(self) -> int:
        return sum(map(len, self.texts[self.num_started :])) if self.waits else 0


class Batcher:
    """Translates texts of many requests with one model, in threads of its own.

    Whoever waits gets a turn: batch after batch, one text of each request is taken until the batch
    is full, so a single sentence is ready after a batch or two, whatever stands before it. A
    text's translation does not depend on the others of its batch, as `Translator` promises. Where
    a batch fails, its requests are tried one by one, so that only the one to blame fails.
    """

    def __init__(
        self, translator: Translator, *, num_threads: int, max_waiting_characters: int
    ) -> None:
        self._translator = translator
        self._num_threads = num_threads
        self._max_waiting = max_waiting_characters
        self._jobs: deque[_Job] = deque()
        self._filled = asyncio.Event()
        self._free_to_ask = threading.BoundedSemaphore(MOST_ASKING)
        self._seconds_per_character = 1e-3
        self._threads = ThreadPoolExecutor(num_threads, thread_name_prefix="translate")
        self._workers = [asyncio.create_task(self._work()) for _ in range(num_threads)]

    @property
    def waiting_characters(self) -> int:
        """What nobody has begun to translate yet."""
        return sum(job.waiting_characters for job in self._jobs)

    async def translate(
        self, texts: Sequence[str], search: SearchConfig, heard: Heard | None = None
    ) -> list[Translation]:
        """Translate texts when it is their turn. Cancelled, it gives its place up.

        Args:
            texts: Any number.
            search: How to search.
            heard: Is told of each text as soon as it is translated, in any order.

        Raises:
            RefusalError: too many texts wait already.
            DragomanError: the search cannot be done.
        """
        if not texts:
            return []
        waiting = self.waiting_characters
        if waiting and waiting + sum(map(len, texts)) > self._max_waiting:
            seconds = waiting * self._seconds_per_character
            raise RefusalError(
                503, "too many texts are waiting; come back later", retry_after=math.ceil(seconds)
            )
        job = _Job(texts, search, asyncio.get_running_loop().create_future(), heard)
        self._jobs.append(job)
        self._filled.set()
        return await job.answer

    async def ask(self, question: Callable[[Translator], Result]) -> Result:
        """Ask the translator something, in one of the threads that translate.

        Raises:
            RefusalError: too many others ask already.
        """
        if not self._free_to_ask.acquire(blocking=False):
            raise RefusalError(503, "too many are asking; come back later", retry_after=1)
        answer = self._threads.submit(question, self._translator)
        # Not when whoever asked goes away: the thread goes on until it has the answer.
        answer.add_done_callback(lambda _: self._free_to_ask.release())
        return await asyncio.wrap_future(answer)

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
        """Take a text of each request in turn, as many as fit; all are searched for alike."""
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
            batch.append((job, job.num_started))
            room -= len(job.texts[job.num_started])
            job.num_started += 1
            self._jobs.append(job)
        self._jobs.extendleft(reversed(others))  # it is their turn next
        return batch

    async def _translate(self, batch: list[tuple[_Job, int]]) -> None:
        """Translate a batch, and answer the requests that are complete."""
        texts, search = [job.texts[i] for job, i in batch], batch[0][0].search
        began = time.monotonic()
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                self._threads, self._run, texts, search
            )
        except Exception as error:
            await self._blame(batch, error)
            return
        num_characters = max(1, sum(map(len, texts)))
        seconds = (time.monotonic() - began) / num_characters / self._num_threads
        self._seconds_per_character += 0.1 * (seconds - self._seconds_per_character)
        for (job, i), translation in zip(batch, found, strict=True):
            job.found[i] = translation
            if job.heard and not job.answer.done():
                job.heard(i, translation)
            if len(job.found) == len(job.texts) and not job.answer.done():
                job.answer.set_result([job.found[i] for i in range(len(job.texts))])

    def _run(self, texts: list[str], search: SearchConfig) -> list[Translation]:
        return list(self._translator.translate(texts, search))

    async def _blame(self, batch: list[tuple[_Job, int]], error: Exception) -> None:
        """Find the requests of a batch that failed that make it fail, and tell them."""
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
    """Tell whether a request that listens has as much in a batch as it may wait for at once."""
    return job.heard is not None and sum(other is job for other, _ in batch) >= TEXTS_AT_ONCE
