"""A connection, and how long it waits for its client."""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from dragoman.serving.guard import HEAD_TOO_LONG, MOST_BYTES_OF_HEAD
from dragoman.serving.overload import Door, written
from dragoman.serving.protocol_upgrade import OfferFilter
from dragoman.serving.refusal import RefusalError
from dragoman.serving.settings import Settings

_TOO_MANY = written(
    RefusalError(503, "there are too many connections; come back later", retry_after=1),
    "/",
    connection="close",
)

MOST_AHEAD = 16
"""Further requests that a client may send before it has the answer to one. They are kept, and
served one after the other."""


class Connection(HttpToolsProtocol):
    """A connection that nobody can keep open by doing nothing, or little at a time.

    uvicorn closes a connection on which nothing arrives after an answer. This class adds deadlines
    for everything else that a client may do slowly: sending the head of a request (the "slowloris"
    attack), finishing a request that was refused before its end, and reading its answer ("slow
    read"). The deadline for the body of a request is in `Guard`, which can tell the client. It also
    hangs up on a client that sends request after request without waiting for an answer. And what
    the door refuses is answered here, without the application.
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
        self.url = b""  # until the first request line
        self._settings = settings
        self._door = door
        self._bytes_of_head = 0
        """Received so far of a head that is not complete."""
        self._offers = OfferFilter()
        self._reads_body = False
        self._skips = False
        """Whether what arrives is the body of a request that the door has refused."""
        self._asks_model = False
        """Whether the request that is being read is for a translation."""
        self._coming: list[RequestResponseCycle] = []
        """Requests for translations that have arrived completely and were not answered."""
        self._to_send = _Deadline(self.loop, settings.head_timeout)
        self._to_read = _Deadline(self.loop, settings.read_timeout)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        # Whatever the network does not take at once is a matter for `pause_writing`.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self._settings.max_connections:
            transport.write(_TOO_MANY)
            transport.close()
        self._watch_sender()

    def data_received(self, data: bytes) -> None:
        """Read on, unless this is a head that never ends."""
        self._bytes_of_head += len(data)
        if not self._reads_body:
            data = self._offers.hide(data)
        super().data_received(data)  # which restarts the count with each complete head
        if self._bytes_of_head > MOST_BYTES_OF_HEAD and not self.transport.is_closing():
            refusal = RefusalError(431, HEAD_TOO_LONG)
            self.transport.write(written(refusal, self.url.decode("latin-1"), connection="close"))
            self.transport.close()
        self._watch_sender()

    def on_headers_complete(self) -> None:
        """Hand a request over, or refuse it at the door."""
        self._bytes_of_head = 0
        self._reads_body = True
        if len(self.pipeline) >= MOST_AHEAD:
            self._skips = True
            self.transport.abort()
            return
        others_wait = self.cycle is not None and not self.cycle.response_complete
        refusal = None
        method = self.parser.get_method()
        if not others_wait:  # else it must wait for them, but the door would answer at once
            refusal = self._door.refuse(method, self.url)
        if refusal is None:
            self._asks_model = self._door.is_for_translation(method, self.url)
            super().on_headers_complete()
            # It has paused if others wait; but then nobody would see that the client goes away.
            self.flow.resume_reading()
            return
        self._skips = True
        self.transport.write(refusal)
        self._to_send.stop()  # and restart, as after any answer

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
                self._set_coming([*self._coming, self.cycle])
            return
        self._skips = False
        if not self.parser.should_keep_alive():
            self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._set_coming([cycle for cycle in self._coming if not cycle.response_complete])
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
        """Stop all waiting."""
        for cycle in self._coming:  # uvicorn tells only the last one
            cycle.disconnected = True
            cycle.message_event.set()
        self._set_coming([])
        super().connection_lost(exc)
        self._to_send.stop()
        self._to_read.stop()

    def _set_coming(self, cycles: list[RequestResponseCycle]) -> None:
        """Count a connection with any of them at the door; it is served one at a time."""
        self._door.num_coming += bool(cycles) - bool(self._coming)
        self._coming = cycles

    def _watch_sender(self) -> None:
        """Run the timer while there is no request to answer; a few bytes do not stop it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._to_send.stop()
        elif not self.transport.is_closing():
            self._to_send.start(self.transport.close)


class _Deadline:
    """A timer after which something is done, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def start(self, action: Callable[[], None]) -> None:
        """Start the timer; if it runs already, it goes on."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, action)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
