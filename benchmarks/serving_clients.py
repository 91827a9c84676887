"""Clients that ask a server for translations, as many and as fast as one process can be.

They speak just enough HTTP/1.1 for a server that gives the length of each answer. uvloop runs them:
at some 3,000 requests per second, asyncio's own streams would take up a whole processor.
"""

import asyncio
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_RETRY_AFTER = re.compile(rb"retry-after: (\d+)", re.IGNORECASE)
_CONNECTION = re.compile(rb"connection: (\w+)", re.IGNORECASE)


class Outcome(NamedTuple):
    """The outcome of a request."""

    status: int
    """The HTTP status; 0 if there was no answer."""
    seconds: float
    sent: float
    """When, by the clock of `time.monotonic`."""
    retry_after: str
    answer: bytes


class Client(asyncio.Protocol):
    """One connection, kept open. It must be cheap, because its time is taken from the server's."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._told: Callable[[Outcome], None] | None = None
        self._sent = 0.0
        self._received = b""

    @property
    def is_open(self) -> bool:
        """Whether its connection can be used again."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: bytes) -> Outcome:
        """Send a request, on a new connection if need be, and read its answer."""
        loop, began = asyncio.get_running_loop(), time.monotonic()
        answer: asyncio.Future[Outcome] = loop.create_future()
        try:
            if not self.is_open:
                await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        except OSError:
            return Outcome(0, time.monotonic() - began, began, "", b"")
        self.send(request, lambda outcome: None if answer.done() else answer.set_result(outcome))
        outcome = await answer
        return outcome._replace(seconds=time.monotonic() - began, sent=began)

    def send(self, request: bytes, told: Callable[[Outcome], None]) -> None:
        """Send a request on the open connection; `told` is called with its outcome later."""
        assert self._transport is not None
        self._told, self._sent, self._received = told, time.monotonic(), b""
        self._transport.write(request)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Store the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read on, and hand over the answer when it is complete."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < int(_field(head, _LENGTH)):
            return
        if _field(head, _CONNECTION).lower() == b"close":
            self.close()
        self._tell(int(head[9:12]), _field(head, _RETRY_AFTER).decode(), body)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up the pending request."""
        self._tell(0, "", b"")

    def _tell(self, status: int, retry_after: str, body: bytes) -> None:
        told, self._told = self._told, None
        if told is not None:
            told(Outcome(status, time.monotonic() - self._sent, self._sent, retry_after, body))

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


def _field(head: bytes, pattern: re.Pattern[bytes]) -> bytes:
    found = pattern.search(head)
    return found[1] if found else b""


def translation_request(sentence: str, **fields: str) -> bytes:
    """Write a request for a translation in LibreTranslate's protocol."""
    body = json.dumps({"q": sentence, "source": "en", "target": "it", **fields}).encode()
    return (
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )


async def share(port: int, requests: Sequence[bytes], num_clients: int) -> list[Outcome]:
    """Let some clients send all requests, each the next one when it has its answer."""
    queue = iter(requests)

    async def work() -> list[Outcome]:
        client = Client(port)
        outcomes = [await client.ask(request) for request in queue]
        client.close()
        return outcomes

    parts = await asyncio.gather(*(work() for _ in range(num_clients)))
    return [outcome for part in parts for outcome in part]


async def press(port: int, requests: Iterator[bytes], rate: float, seconds: float) -> list[Outcome]:
    """Send `rate` requests per second, whether earlier ones were answered or not."""
    crowd = _Crowd(port)
    began, num_sent = time.monotonic(), 0
    async with asyncio.TaskGroup() as group:
        while (passed := time.monotonic() - began) < seconds:
            for _ in range(int(passed * rate) - num_sent):
                if client := crowd.idle_client():
                    client.send(next(requests), partial(crowd.note, client))
                else:
                    group.create_task(crowd.send_from_new(next(requests)))
                num_sent += 1
            await asyncio.sleep(0.002)
    while len(crowd.outcomes) < num_sent:
        await asyncio.sleep(0.01)
    while client := crowd.idle_client():
        client.close()
    return crowd.outcomes


class _Crowd:
    """Clients; as many are made as have to wait at the same time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[Client] = []
        self.outcomes: list[Outcome] = []

    def idle_client(self) -> Client | None:
        while self._idle:
            client = self._idle.pop()
            if client.is_open:
                return client
        return None

    async def send_from_new(self, request: bytes) -> None:
        client = Client(self._port)
        self.note(client, await client.ask(request))

    def note(self, client: Client, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if client.is_open:
            self._idle.append(client)


def milliseconds(outcomes: Sequence[Outcome], percent: int) -> float:
    """Return a percentile of the response times."""
    return 1000 * statistics.quantiles([o.seconds for o in outcomes], n=100)[percent - 1]
