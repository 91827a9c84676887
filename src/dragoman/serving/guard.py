"""What stands between the network and the application: limits, and clients that go away."""

import asyncio
import time
from collections.abc import Awaitable
from itertools import chain
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.serving.metrics import Metrics
from dragoman.serving.refusal import RefusalError, as_refusal, as_response
from dragoman.serving.settings import Settings
from dragoman.serving.turnstile import Turnstile

MOST_BYTES_OF_HEAD = 2**14
"""The address and the headers of a request."""

HEAD_TOO_LONG = "the address and the headers of the request are too long"

_MOST_BYTES_AT_ONCE = 2**29
"""Of all requests that are being served."""

_FILE_PATHS = ("/translate_file", "/v2/document")
"""Where files are sent, which may be longer than other requests."""

_NOBODY_THERE = 499
"""The status of a request whose client went away before the answer."""

HEADERS = {
    # Else a browser puts a page together from scripts of two versions, for days after an upgrade.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""For browsers, on all that says nothing else about it, such as a translated file."""


class Guard:
    """Hands requests to an application one by one, complete, and takes them back.

    A request has limits on its size and on its time to arrive. When its client goes away, the work
    for it is cancelled, which frees its place in the queue. If the application fails, the log has
    the details, and the client their number. Requests are counted.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._turnstile = Turnstile()
        self._num_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # the answer of GET, of which the server sends only the head
            scope = {**scope, "method": "GET"}
        answer = _Answer(scope, send, self._metrics)
        try:
            await self._serve(scope, receive, answer.send)
        except asyncio.CancelledError:  # the server was told twice to stop, or has waited too long
            if not answer.is_begun:
                stopping = RefusalError(503, "the server is about to stop", retry_after=1)
                await as_response(stopping, scope["path"])(scope, receive, answer.send)
        except Exception as error:
            if answer.is_begun:
                raise
            await as_response(as_refusal(error), scope["path"])(scope, receive, answer.send)
        finally:
            answer.count()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then let the application work until its client goes."""
        body = bytearray()
        brings_file = scope["path"] in _FILE_PATHS
        most = self._settings.max_upload_bytes if brings_file else self._settings.max_body_bytes
        try:
            _refuse_by_its_head(scope)
            if await self._read_in_time(receive, body, most):
                await self._turnstile.go_through()
                await _work_until_gone(self._app(scope, _replay(bytes(body)), send), receive)
        finally:
            self._num_bytes -= len(body)

    async def _read_in_time(self, receive: Receive, body: bytearray, most: int) -> bool:
        """Read the body as `_read` does; raises RefusalError if it takes too long, too."""
        try:
            async with asyncio.timeout(self._settings.body_timeout):
                return await self._read(receive, body, most)
        except TimeoutError:
            raise RefusalError(408, "the request took too long to arrive") from None

    async def _read(self, receive: Receive, body: bytearray, most: int) -> bool:
        """Collect the body; return False if the client went away in the middle of it.

        Raises:
            RefusalError: it is longer than any request within the limits, or too much arrives.
        """
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return False
            part = message.get("body", b"")
            body += part
            self._num_bytes += len(part)
            if len(body) > most:
                raise RefusalError(413, f"the request is longer than {most} bytes")
            if self._num_bytes > _MOST_BYTES_AT_ONCE:
                raise RefusalError(503, "too much is being sent to this server", retry_after=5)
            if not message.get("more_body", False):
                return True


class _Answer:
    """Sends the answer to a request, and makes sure that the request is counted once."""

    def __init__(self, scope: Scope, send: Send, metrics: Metrics) -> None:
        self._scope = scope
        self._send = send
        self._metrics = metrics
        self._began = time.monotonic()
        self._status = _NOBODY_THERE
        self._is_counted = False
        metrics.begin_request()

    @property
    def is_begun(self) -> bool:
        """Whether its head was sent."""
        return self._status != _NOBODY_THERE

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        elif not message.get("more_body", False):
            self.count()  # before the client that gets the answer can look at the numbers
        await self._send(message)

    def count(self) -> None:
        """Count the request, which is over."""
        if self._is_counted:
            return
        self._is_counted = True
        route = self._scope.get("route")
        path = route.path if route is not None else "other"
        self._metrics.end_request(path, self._status, time.monotonic() - self._began)


def _refuse_by_its_head(scope: Scope) -> None:
    """Refuse what can be refused without reading the body, as quickly as possible.

    Raises:
        RefusalError: the head is too long, the query is not text, or the body is compressed.
    """
    fields = [scope["raw_path"], scope["query_string"], *chain.from_iterable(scope["headers"])]
    if sum(map(len, fields)) > MOST_BYTES_OF_HEAD:
        raise RefusalError(431, HEAD_TOO_LONG)
    try:
        unquote_to_bytes(scope["query_string"]).decode()
    except UnicodeDecodeError:
        raise RefusalError(400, "the query is not UTF-8") from None
    headers = Headers(scope=scope)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "send the body uncompressed")


async def _work_until_gone(work: Awaitable[None], receive: Receive) -> None:
    """Do some work, unless the client goes away before it is done."""
    working = asyncio.ensure_future(work)
    watching = asyncio.create_task(_wait_until_gone(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        working.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)
    if not working.cancelled():
        working.result()


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _replay(body: bytes) -> Receive:
    """Replay a body that was read already; nothing comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    return receive
