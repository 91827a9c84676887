"""Run the application until it is told to stop."""

import gc
import logging
import os
import signal
import socket
import sys
from functools import partial
from types import FrameType

import uvicorn
from fastapi import FastAPI

from dragoman.errors import DragomanError, UsageError
from dragoman.serving.connection import Connection
from dragoman.serving.settings import Settings

ACCEPTED_AT_ONCE = 16
"""Connections. libuv accepts one from each listener in a round of its loop, and while threads
translate, a round takes a millisecond or more; a crowd would wait for seconds to be let in."""

_LAST_PORT = 65535


def open_socket(host: str, port: int) -> socket.socket:
    """Open a port; 0 is any that is free. The address `::` stands for those of IPv4, too.

    Raises:
        UsageError: it is not a port.
        DragomanError: it is taken, or the host is not an address of this machine.
    """
    if not 0 <= port <= _LAST_PORT:
        raise UsageError(f"port {port}: a port is a number from 0 to {_LAST_PORT}")
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Clients that connect before the models are loaded wait.
        dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        listener = socket.create_server((address[0], port), family=family, dualstack_ipv6=dual)
        # Connections inherit it. Without it, an answer in two packets waits 40 ms for the client to
        # acknowledge the first; asyncio sets it only for sockets that it has opened itself.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (socket.gaierror, UnicodeError):  # the latter if a part of the name is too long
        reason = "there is no such host"
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
    raise DragomanError(f"{host}:{port}: {reason}; name another --host or --port")


class Server(uvicorn.Server):
    """uvicorn, which says at once when it is about to stop."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        connection = partial(Connection, settings=settings, door=app.state.door)
        super().__init__(
            uvicorn.Config(
                app,
                http=connection,  # type: ignore[arg-type]  # it is only ever called
                ws="none",
                log_level="error",  # what clients do wrong is not for the log, also below
                access_log=False,  # what people translate is nobody's business
                timeout_graceful_shutdown=int(settings.timeout),
                server_header=False,
            )
        )
        logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal to stop."""
        self._app.state.stops = True
        super().handle_exit(sig, frame)


def end_on_signals() -> None:
    """Have SIGTERM and SIGINT end the process from now on.

    Without, SIGTERM would do nothing to the first process of a container, however long the models
    take to load, nor SIGINT to a background job of a shell. `run` finishes its work on a signal,
    and then raises it again.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(app: FastAPI, listener: socket.socket, settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Then new connections are refused, and requests that were accepted are answered, within the time
    that they may take.
    """
    # At each event on the network, this is how long one waits for a thread that translates; with
    # the usual 5 ms, only 200 connections a second could be taken.
    sys.setswitchinterval(5e-4)
    _keep_from_looking_for_garbage()
    # uvicorn closes them all on a signal; one that stayed open would go on to take connections.
    copies = [listener.dup() for _ in range(ACCEPTED_AT_ONCE - 1)]
    Server(app, settings).run(sockets=[listener, *copies])


def _keep_from_looking_for_garbage() -> None:
    """Exempt what is loaded from garbage collection, as it stays, and collect a tenth as often.

    Looking through the objects of 450 waiting requests takes 0.3 seconds, in which nothing else is
    done, every five seconds under load; and it finds a few dozen objects.
    """
    gc.collect()
    gc.freeze()
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, 10 * old)
