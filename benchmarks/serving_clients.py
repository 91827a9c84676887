"""Clients that ask a server for translations, as many and as fast as one process can be.

They speak just enough HTTP/1.1 for a server that gives the length of each answer. uvloop runs them:
at some 3,000 requests a second, asyncio's own streams would take a processor for themselves.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Outcome(NamedTuple):
    """What became of a request."""

    status: int
    """Of HTTP; 0 if there was no answer."""
    seconds: float
    sent: float
    """When, by the clock of `time.monotonic`."""
    retry_after: str
    answer: bytes


class Client(asyncio.Protocol):
    """One connection, kept open. It must cost little, as it takes its time from the server's."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[tuple[int, str, bytes]] | None = None
        self._received = b""

    async def ask(self, request: bytes) -> Outcome:
        """Send a request and read its answer."""
        sent = time.monotonic()
        try:
            status, retry_after, answer = await self._exchange(request)
        except OSError:  # the server has closed the connection
            status, retry_after, answer = 0, "", b""
        return Outcome(status, time.monotonic() - sent, sent, retry_after, answer)

    async def _exchange(self, request: bytes) -> tuple[int, str, bytes]:
        loop = asyncio.get_running_loop()
        if self._transport is None or self._transport.is_closing():
            self._received = b""
            await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        assert self._transport is not None
        self._answer = loop.create_future()
        self._transport.write(request)
        return await self._answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read on, and hand the answer over when it is whole."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        first, *lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        if len(body) < int(headers["content-length"]):
            return
        self._received = b""
        if headers.get("connection") == "close":
            self.close()
        if self._answer is not None and not self._answer.done():
            retry_after = headers.get("retry-after", "")
            self._answer.set_result((int(first.split()[1]), retry_after, body))

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up what was asked for."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError())

    def close(self) -> None:
        """Give the connection up."""
        if self._transport is not None:
            self._transport.close()


def translation_request(sentence: str, **fields: str) -> bytes:
    """Write a request for a translation in LibreTranslate's protocol."""
    body = json.dumps({"q": sentence, "source": "en", "target": "it", **fields}).encode()
    return (
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )


async def share(port: int, requests: Sequence[bytes], num_clients: int) -> list[Outcome]:
    """Let some clients ask for all requests, each for the next one when it has its answer."""
    queue = iter(requests)

    async def work() -> list[Outcome]:
        client = Client(port)
        outcomes = [await client.ask(request) for request in queue]
        client.close()
        return outcomes

    parts = await asyncio.gather(*(work() for _ in range(num_clients)))
    return [outcome for part in parts for outcome in part]


async def press(port: int, requests: Iterator[bytes], rate: float, seconds: float) -> list[Outcome]:
    """Send so many requests a second, whether others were answered or not."""
    idle: list[Client] = []
    outcomes: list[Outcome] = []

    async def send(request: bytes) -> None:
        client = idle.pop() if idle else Client(port)
        outcomes.append(await client.ask(request))
        idle.append(client)

    began, num_sent = time.monotonic(), 0
    async with asyncio.TaskGroup() as group:
        while (passed := time.monotonic() - began) < seconds:
            for _ in range(int(passed * rate) - num_sent):
                group.create_task(send(next(requests)))
                num_sent += 1
            await asyncio.sleep(0.002)
    for client in idle:
        client.close()
    return outcomes


def milliseconds(outcomes: Sequence[Outcome], percent: int) -> float:
    """Give the percentile of the times to the answer."""
    return 1000 * statistics.quantiles([o.seconds for o in outcomes], n=100)[percent - 1]
