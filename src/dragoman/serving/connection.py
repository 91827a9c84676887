"""A connection, and how long it waits for its client."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from dragoman.serving.door import Door
from dragoman.serving.guard import MOST_BYTES_OF_HEAD
from dragoman.serving.settings import Settings

_SENTENCE = b'{"error":"there are too many connections; come back later"}'
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_SENTENCE), _SENTENCE)
)


class Connection(HttpToolsProtocol):
    """A connection that nobody can keep open by doing nothing, or little at a time.

    uvicorn ends a connection on which nothing comes after an answer. Here is a deadline for the
    rest of what a client may be slow with: to send the head of a request (as in the attack
    "slowloris"), to finish a request that was refused before its end, and to take its answer
    ("slow read"). For the body of a request `Guard` has one, as it can say so. And what the door
    refuses is answered here, without the application.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        settings: Settings,
        door: Door,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._settings = settings
        self._door = door
        self._bytes_of_head = 0
        """Of a request whose head is not complete."""
        self._reads_body = False
        self._skips = False
        """Whether what comes is the body of a request that the door has refused."""
        self._asks_model = False
        """Whether the request that is being read is for a translation."""
        self._coming: list[RequestResponseCycle] = []
        """Requests for translations that have come whole and were not answered."""
        self._to_send = _Deadline(self.loop, settings.head_timeout)
        self._to_read = _Deadline(self.loop, settings.read_timeout)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, unless too many are waited for."""
        super().connection_made(transport)
        # Whatever the network does not take at once is a matter for `pause_writing`.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self._settings.max_connections:
            transport.write(_TOO_MANY)
            transport.close()
        self._watch_sender()

    def data_received(self, data: bytes) -> None:
        """Read on, unless this is a head without an end."""
        self._bytes_of_head += len(data)
        if not self._reads_body:
            data = _without_upgrade(data)
        super().data_received(data)  # which begins to count anew with each head that is complete
        if self._bytes_of_head > MOST_BYTES_OF_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
        self._watch_sender()

    def on_headers_complete(self) -> None:
        """Hand a request over, or refuse it at the door."""
        self._bytes_of_head = 0
        self._reads_body = True
        others_wait = self.cycle is not None and not self.cycle.response_complete
        refusal = None
        method = self.parser.get_method()
        if not others_wait:  # else it has to wait for them, and the door would answer at once
            refusal = self._door.refuse(method, self.url)
        if refusal is None:
            self._asks_model = self._door.is_for_translation(method, self.url)
            super().on_headers_complete()
            return
        self._skips = True
        self.transport.write(refusal)
        self._to_send.stop()  # and start anew, as after any answer

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which is not part of a head."""
        self._bytes_of_head = 0
        if not self._skips:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of a request."""
        self._bytes_of_head = 0
        self._reads_body = False
        if not self._skips:
            super().on_message_complete()
            if self._asks_model and self.cycle is not None and not self.cycle.response_complete:
                self._coming.append(self.cycle)
                self._door.num_coming += 1
            return
        self._skips = False
        if not self.parser.should_keep_alive():
            self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._forget([cycle for cycle in self._coming if cycle.response_complete])
        super().on_response_complete()
        self._watch_sender()

    def pause_writing(self) -> None:
        """Wait until the client takes what it was sent."""
        super().pause_writing()
        self._to_read.start(self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, as the client has taken it."""
        super().resume_writing()
        self._to_read.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._forget(self._coming)
        super().connection_lost(exc)
        self._to_send.stop()
        self._to_read.stop()

    def _forget(self, cycles: Sequence[RequestResponseCycle]) -> None:
        """Count requests no more that were answered, or whose client is gone."""
        self._door.num_coming -= len(cycles)
        self._coming = [cycle for cycle in self._coming if cycle not in cycles]

    def _watch_sender(self) -> None:
        """Let the time run while there is no request to be answered; a few bytes do not stop it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._to_send.stop()
        elif not self.transport.is_closing():
            self._to_send.start(self.transport.close)


def _without_upgrade(data: bytes) -> bytes:
    """Make the offer of another protocol, as HTTP/2, one that nobody reads.

    A server may pass it over (RFC 9110, 7.8). The parser would take what follows for that protocol,
    and lose the body.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"x-upgrd", head) + end + rest


_UPGRADE = re.compile(rb"(?<![^\n])upgrade(?=[ \t]*:)", re.IGNORECASE)


class _Deadline:
    """A time after which something is done, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def start(self, action: Callable[[], None]) -> None:
        """Let the time run; if it runs already, it goes on."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, action)

    def stop(self) -> None:
        """Let the time run no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
