"""Slow questions, each answered in a thread."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from dragoman.serving.refusal import RefusalError

MOST_WAITING = 8
"""Questions that may wait or be under way."""

Result = TypeVar("Result")


class Questions:
    """Has questions answered in some threads, in the order in which they came; not too many.

    Args:
        threads: Who answers.
        doing: What clients are doing when they ask, as a refusal says.
        retry_after: Seconds after which a refused client may come back.
    """

    def __init__(self, threads: ThreadPoolExecutor, doing: str, *, retry_after: int) -> None:
        self._threads = threads
        self._doing = doing
        self._retry_after = retry_after
        self._places = threading.BoundedSemaphore(MOST_WAITING)

    async def ask(self, question: Callable[[], Result]) -> Result:
        """Have a question answered when it is its turn. If cancelled before that, it is not.

        Raises:
            RefusalError: too many others wait already.
        """
        if not self._places.acquire(blocking=False):
            raise RefusalError(
                429, f"too many are {self._doing}; come back later", retry_after=self._retry_after
            )
        answer = self._threads.submit(question)
        # Not when the client goes away: what is under way is finished.
        answer.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(answer)
