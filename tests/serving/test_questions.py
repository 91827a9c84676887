"""Questions: each in its turn, not too many of them, and none for nobody."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dragoman.serving.questions import MOST_WAITING, Questions
from dragoman.serving.refusal import RefusalError


class Work:
    """Waits until it may go on, and remembers what was done, and how much at once."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.done: list[int] = []
        self.at_once = self.most_at_once = 0

    def piece(self, number: int) -> Callable[[], int]:
        def work() -> int:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            assert self.gate.wait(timeout=30)
            self.at_once -= 1
            self.done.append(number)
            return number

        return work


def run(scenario: Callable[[Questions], Any]) -> Any:
    with ThreadPoolExecutor(1) as thread:
        return asyncio.run(scenario(Questions(thread, "looking inside", retry_after=2)))


def test_one_piece_is_done_after_the_other_and_too_many_are_refused() -> None:
    work = Work()

    async def scenario(questions: Questions) -> list[int]:
        doing = [asyncio.create_task(questions.ask(work.piece(i))) for i in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(RefusalError, match="too many are looking inside") as refused:
            await questions.ask(work.piece(99))
        assert (refused.value.status, refused.value.retry_after) == (429, 2)
        work.gate.set()
        await asyncio.gather(*doing)
        return [*work.done, await questions.ask(work.piece(99))]

    assert run(scenario) == [*range(MOST_WAITING), 99]
    assert work.most_at_once == 1


def test_what_nobody_waits_for_any_more_is_not_done_and_takes_no_place() -> None:
    work = Work()

    async def scenario(questions: Questions) -> None:
        doing = [asyncio.create_task(questions.ask(work.piece(i))) for i in range(MOST_WAITING)]
        while not work.at_once:
            await asyncio.sleep(0.001)
        for each in doing[1:]:
            each.cancel()
        await asyncio.wait(doing[1:])
        later = [asyncio.create_task(questions.ask(work.piece(10 + i))) for i in range(2)]
        await asyncio.sleep(0)
        work.gate.set()
        await asyncio.gather(doing[0], *later)

    run(scenario)

    assert work.done == [0, 10, 11]
