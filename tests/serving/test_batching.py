"""Batching: together, in turn, and none the wiser."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from tests.serving.live import Copier

from dragoman.decoding.config import SearchConfig
from dragoman.serving.batching import CHARACTERS_PER_BATCH, TEXTS_AT_ONCE, Batcher
from dragoman.serving.models import ServedModel
from dragoman.serving.refusal import RefusalError
from dragoman.serving.settings import Settings
from dragoman.translation import Translation
from dragoman.translator import Translator

SEARCH = SearchConfig()
LINE = "The Cat, the Dog"  # names, of which a copy is no fault
Scenario = Callable[[Batcher], Coroutine[Any, Any, Any]]


def run(translator: Translator, scenario: Scenario, settings: Settings | None = None) -> Any:
    async def whole() -> Any:
        batcher = Batcher(translator, settings or Settings())
        try:
            return await scenario(batcher)
        finally:
            await batcher.close()

    return asyncio.run(whole())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_what_arrives_together_is_translated_together(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying

    async def scenario(batcher: Batcher) -> list[list[Translation]]:
        texts = [[f"cat {i}", f"dog {i}"] for i in range(5)]
        return await asyncio.gather(*(batcher.translate(t, SEARCH) for t in texts))

    found = run(model.translator, scenario)

    assert [[t.text for t in texts] for texts in found] == [
        [f"cat {i}", f"dog {i}"] for i in range(5)
    ]
    assert engine.asked == [10]


@pytest.mark.parametrize("search", [SEARCH, replace(SEARCH, n_best=3)], ids=["same", "other"])
def test_a_sentence_does_not_wait_for_a_book(
    copying: tuple[Copier, ServedModel], search: SearchConfig
) -> None:
    engine, model = copying
    num_lines = 10 * CHARACTERS_PER_BATCH // len(LINE)

    async def scenario(batcher: Batcher) -> int:
        engine.gate.clear()
        book = asyncio.create_task(batcher.translate([LINE] * num_lines, SEARCH))
        await until(lambda: bool(engine.asked))
        sentence = asyncio.create_task(batcher.translate(["a cat"], search))
        await asyncio.sleep(0)
        engine.gate.set()
        await sentence
        batches = len(engine.asked)
        assert not book.done()
        assert len(await book) == num_lines
        return batches

    assert run(model.translator, scenario) <= 3


def test_searches_that_differ_are_kept_apart_and_take_turns(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying

    async def scenario(batcher: Batcher) -> list[list[Translation]]:
        searches = [replace(SEARCH, n_best=n) for n in (1, 3, 1, 3)]
        texts = ["cat", "cat", "dog", "dog"]
        return await asyncio.gather(*map(batcher.translate, ([text] for text in texts), searches))

    found = run(model.translator, scenario)

    assert [len(translation.alternatives) for (translation,) in found] == [1, 3, 1, 3]
    assert engine.asked[:2] == [2, 2]


def test_nobody_translates_for_those_who_have_gone(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying

    async def scenario(batcher: Batcher) -> None:
        engine.gate.clear()
        first = asyncio.create_task(batcher.translate(["a cat"], SEARCH))
        await until(lambda: engine.asked == [1])
        gone = asyncio.create_task(batcher.translate(["a dog"] * 50, SEARCH))
        await asyncio.sleep(0)
        gone.cancel()
        last = asyncio.create_task(batcher.translate(["a table"], SEARCH))
        await asyncio.sleep(0)
        assert batcher.count_waiting() == len("a table")
        engine.gate.set()
        await asyncio.gather(first, last)

    run(model.translator, scenario)

    assert engine.asked == [1, 1]


def test_there_is_room_for_one_text_of_any_length_and_no_more_than_can_be_kept() -> None:
    async def scenario(batcher: Batcher) -> None:
        with batcher.room_for(200):
            assert batcher.count_waiting() == 200
            with pytest.raises(RefusalError, match="come back later") as refusal:
                batcher.room_for(1).__enter__()
        assert refusal.value.status == 429
        assert refusal.value.retry_after == 1
        assert batcher.count_waiting() == 0
        with batcher.room_for(1):
            pass

    run(Picky(), scenario, Settings(max_waiting_characters=100))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lengths", "are_let_in"),
    [
        ([10_000, 50], [True, True]),  # of the book, the sentence waits for a sentence
        ([10_000, 10_000, 10_000, 50], [True, True, False, True]),  # no longer than for one's own
        ([50] * 102, [True] * 101 + [False]),  # a character is taken to need 0.2 ms
        ([1] * 102, [True] * 102),
        ([5_001, 200, 5_001], [True, True, False]),
    ],
)
def test_a_text_is_refused_if_its_turn_would_not_come_soon(
    lengths: list[int], are_let_in: list[bool]
) -> None:
    async def scenario(batcher: Batcher) -> list[bool]:
        found = []
        with ExitStack() as rooms:
            for length in lengths:
                try:
                    rooms.enter_context(batcher.room_for(length))
                    found.append(True)
                except RefusalError:
                    found.append(False)
        return found

    assert run(Picky(), scenario, Settings(max_wait=1.0)) == are_let_in  # type: ignore[arg-type]


def test_what_is_given_up_while_it_waits_is_forgotten(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying

    async def scenario(batcher: Batcher) -> None:
        engine.gate.clear()
        first = asyncio.create_task(batcher.translate(["a cat"], SEARCH))
        await until(lambda: engine.asked == [1])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await batcher.translate(["too late"], SEARCH)
        assert batcher.count_waiting() == 0
        engine.gate.set()
        await first
        await batcher.translate(["a dog"], SEARCH)

    run(model.translator, scenario)

    assert engine.asked == [1, 1]


class Picky:
    """A translator that fails whenever it meets the word bomb."""

    searches_at_once = 1

    def translate(self, texts: Sequence[str], search: SearchConfig) -> Iterator[Translation]:
        if "bomb" in texts:
            raise RuntimeError("boom")
        for text in texts:
            yield Translation(source=text, alternatives=(), parts=(), cut=False)


def test_only_the_one_to_blame_fails() -> None:
    async def scenario(batcher: Batcher) -> list[Any]:
        texts = [["cat"], ["a", "bomb"], ["dog", "table"]]
        jobs = (batcher.translate(t, SEARCH) for t in texts)
        return await asyncio.gather(*jobs, return_exceptions=True)

    one, two, three = run(Picky(), scenario)  # type: ignore[arg-type]

    assert [t.source for t in one] == ["cat"]
    assert isinstance(two, RuntimeError)
    assert [t.source for t in three] == ["dog", "table"]


def test_nothing_to_translate_is_ready_at_once(copying: tuple[Copier, ServedModel]) -> None:
    assert run(copying[1].translator, lambda batcher: batcher.translate([], SEARCH)) == []


def test_whoever_listens_hears_each_text_and_waits_for_few_at_once(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    heard: list[tuple[int, str, int]] = []
    texts = [f"cat {i}" for i in range(2 * TEXTS_AT_ONCE + 1)]

    async def scenario(batcher: Batcher) -> list[Translation]:
        return await batcher.translate(
            texts, SEARCH, lambda i, found: heard.append((i, found.text, len(engine.asked)))
        )

    found = run(model.translator, scenario)

    assert engine.asked == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 1]
    assert [t.text for t in found] == texts
    assert [(i, text) for i, text, _ in heard] == list(enumerate(texts))
    assert [asked for _, _, asked in heard] == [1] * TEXTS_AT_ONCE + [2] * TEXTS_AT_ONCE + [3]


def test_others_fill_the_batches_of_whoever_listens(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying

    async def scenario(batcher: Batcher) -> Any:
        return await asyncio.gather(
            batcher.translate([f"cat {i}" for i in range(10)], SEARCH, lambda *_: None),
            batcher.translate([f"dog {i}" for i in range(10)], SEARCH),
        )

    run(model.translator, scenario)

    assert engine.asked[0] == TEXTS_AT_ONCE + 10
    assert sum(engine.asked) == 20


class Sluggish(Picky):
    """A translator that takes long for each character of a hard text."""

    def translate(self, texts: Sequence[str], search: SearchConfig) -> Iterator[Translation]:
        time.sleep(sum(map(len, texts)) * (4e-4 if "hard" in texts[0] else 1e-5))
        yield from super().translate(texts, search)


def test_one_hard_text_does_not_shut_others_out() -> None:
    async def scenario(batcher: Batcher) -> list[bool]:
        async def come() -> bool:
            try:
                with batcher.room_for(14):
                    await batcher.translate(["Open the file."], SEARCH)
            except RefusalError:
                return False
            return True

        for _ in range(3):
            await batcher.translate(["a hard text " * 160], SEARCH)
        for _ in range(3):
            await come()
        return await asyncio.gather(*(come() for _ in range(40)))

    let_in = run(Sluggish(), scenario, Settings(max_wait=0.18))  # type: ignore[arg-type]

    assert let_in == [True] * 40


def test_who_is_refused_is_told_how_long_the_others_take() -> None:
    async def scenario(batcher: Batcher) -> None:
        refused = pytest.raises(RefusalError)
        with batcher.room_for(10_000), batcher.room_for(10_000), refused as refusal:
            batcher.room_for(10_000).__enter__()
        assert refusal.value.retry_after == 4  # 0.2 ms for each character

    run(Picky(), scenario, Settings(max_wait=1.0))  # type: ignore[arg-type]


def test_searches_that_differ_are_done_in_the_order_in_which_they_came(
    copying: tuple[Copier, ServedModel],
) -> None:
    heard: list[int] = []

    async def scenario(batcher: Batcher) -> None:
        await asyncio.gather(
            *(
                batcher.translate(
                    ["cat"],
                    replace(SEARCH, n_best=n),
                    lambda _, found: heard.append(len(found.alternatives)),
                )
                for n in (1, 2, 3)
            )
        )

    run(copying[1].translator, scenario)

    assert heard == [1, 2, 3]


@pytest.mark.parametrize(
    ("num_threads", "seconds", "num_characters", "expected"),
    [
        (1, 0.8, CHARACTERS_PER_BATCH, 2.4e-4),  # a fifth of the way from 0.2 to 0.4 ms
        (2, 0.8, CHARACTERS_PER_BATCH, 2e-4),  # of which two threads do two at a time
        (1, 8.0, 10 * CHARACTERS_PER_BATCH, 2.4e-4),  # more than full is full
        (1, 0.08, CHARACTERS_PER_BATCH // 10, 2.04e-4),
        (1, 0.2, CHARACTERS_PER_BATCH, 1.5e-4),  # half of the way from 0.2 to 0.1 ms
        (1, 0.02, CHARACTERS_PER_BATCH // 10, 1.5e-4),
    ],
)
def test_a_batch_changes_what_is_expected_of_the_next_ones(
    num_threads: int, seconds: float, num_characters: int, expected: float
) -> None:
    async def scenario(batcher: Batcher) -> float:
        batcher._learn_speed(seconds, num_characters)
        return batcher._seconds_per_character

    translator = Picky()
    translator.searches_at_once = num_threads

    found = run(translator, scenario)  # type: ignore[arg-type]

    assert found == pytest.approx(expected)
