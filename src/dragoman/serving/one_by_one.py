"""Slow work, done beside the translating."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from dragoman.serving.refusal import RefusalError

MOST_WAITING = 8
"""Jobs that may wait or be under way."""

Result = TypeVar("Result")


class OneByOne:
    """Does one job after the other in a thread of its own, and refuses too many."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="beside")
        self._places = threading.BoundedSemaphore(MOST_WAITING)

    async def do(self, work: Callable[[], Result]) -> Result:
        """Do some work when it is its turn. If cancelled before that, it is not done.

        Raises:
            RefusalError: too much waits already.
        """
        if not self._places.acquire(blocking=False):
            raise RefusalError(429, "too many are looking inside; come back later", retry_after=2)
        doing = self._thread.submit(work)
        # Not when the client goes away: what is under way is finished.
        doing.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(doing)

    def close(self) -> None:
        """Finish what is under way, and nothing else."""
        self._thread.shutdown(wait=True, cancel_futures=True)
