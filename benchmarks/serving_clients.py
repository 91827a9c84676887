"""Clients that ask a server for translations, as many and as fast as one process can be.

They speak just enough HTTP/1.1 for a server that gives the length of each answer.
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


class Client:
    """One connection, kept open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> Outcome:
        """Send a request and read its answer."""
        sent = time.monotonic()
        if self._streams is not None and self._streams[0].at_eof():  # closed for doing nothing
            self.close()
        try:
            status, retry_after, answer = await self._exchange(request)
        except (OSError, EOFError):  # the server has closed the connection
            self.close()
            status, retry_after, answer = 0, "", b""
        return Outcome(status, time.monotonic() - sent, sent, retry_after, answer)

    async def _exchange(self, request: bytes) -> tuple[int, str, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:-2])
        answer = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), headers.get("retry-after", ""), answer

    def close(self) -> None:
        """Give the connection up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


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
