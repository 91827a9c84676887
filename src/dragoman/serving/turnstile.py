"""Let a crowd through a few at a time, so that the event loop serves the network in between."""

import asyncio
from collections import deque

THROUGH_AT_ONCE = 2
"""In each round of the event loop. A request costs the application a millisecond or two."""


class Turnstile:
    """A gate where many may come at once, and pass in the order in which they came.

    Whatever is ready in a round of the event loop runs before the network is looked at. When a
    batch is translated, all its answers are ready at once, and their clients come back with as many
    new requests; without this, a request that is only to be refused would wait for all of that.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def go_through(self) -> None:
        """Wait for your turn."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if len(self._waiting) == 1:
            loop.call_soon(self._turn)
        await turn

    def _turn(self) -> None:
        for _ in range(min(THROUGH_AT_ONCE, len(self._waiting))):
            turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may have gone
                turn.set_result(None)
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._turn)
