"""A connection, and how long it waits for its client."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from dragoman.serving.settings import Settings

_SENTENCE = b'{"error":"there are too many connections; come back later"}'
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_SENTENCE), _SENTENCE)
)


class Connection(H11Protocol):
    """A connection that nobody can keep open by doing nothing, or little at a time.

    uvicorn ends a connection on which nothing comes after an answer. Here is a deadline for the
    rest of what a client may be slow with: to send the head of a request (as in the attack
    "slowloris"), to finish a request that was refused before its end, and to take its answer
    ("slow read"). For the body of a request `Guard` has one, as it can say so.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        settings: Settings,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._settings = settings
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
        """Read on."""
        super().data_received(data)
        self._watch_sender()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
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
        super().connection_lost(exc)
        self._to_send.stop()
        self._to_read.stop()

    def _watch_sender(self) -> None:
        """Let the time run while there is no request to be answered; a few bytes do not stop it."""
        if self.conn.our_state not in (h11.IDLE, h11.DONE):
            self._to_send.stop()
        elif not self.transport.is_closing():
            self._to_send.start(self.transport.close)


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
