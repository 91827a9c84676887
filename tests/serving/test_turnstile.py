"""A crowd passes in order, a few at a time, and the network is seen to in between."""

import asyncio
import socket
from itertools import pairwise

from dragoman.serving.turnstile import THROUGH_AT_ONCE, Turnstile


async def _pass_through(turnstile: Turnstile, number: int, passed: list[int]) -> None:
    await turnstile.go_through()
    passed.append(number)


def test_all_pass_in_the_order_in_which_they_came() -> None:
    passed: list[int] = []

    async def crowd() -> None:
        turnstile = Turnstile()
        async with asyncio.timeout(5):
            await asyncio.gather(*(_pass_through(turnstile, i, passed) for i in range(20)))

    asyncio.run(crowd())
    assert passed == list(range(20))


def test_the_network_is_seen_to_between_those_who_pass() -> None:
    passed: list[int] = []
    passed_when_seen_to = [0]

    async def crowd() -> None:
        turnstile, loop = Turnstile(), asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.send(b"refuse me")
            loop.add_reader(ours, lambda: passed_when_seen_to.append(len(passed)))
            async with asyncio.timeout(5):
                await asyncio.gather(*(_pass_through(turnstile, i, passed) for i in range(50)))
            loop.remove_reader(ours)

    asyncio.run(crowd())
    steps = [after - before for before, after in pairwise([*passed_when_seen_to, 50])]
    assert max(steps) <= THROUGH_AT_ONCE


def test_who_gives_up_does_not_hold_up_those_behind() -> None:
    passed: list[int] = []

    async def crowd() -> None:
        turnstile = Turnstile()
        tasks = [asyncio.create_task(_pass_through(turnstile, i, passed)) for i in range(10)]
        await asyncio.sleep(0)  # all wait
        for gone in tasks[::2]:
            gone.cancel()
        async with asyncio.timeout(5):
            await asyncio.gather(*tasks, return_exceptions=True)
            await _pass_through(turnstile, 10, passed)

    asyncio.run(crowd())
    assert passed == [1, 3, 5, 7, 9, 10]
