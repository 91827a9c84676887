"""Run the application until it is told to stop."""

import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from dragoman.config import DragomanError

_MOST_CONNECTIONS = 1000


def open_socket(host: str, port: int) -> socket.socket:
    """Take a port; 0 is any that is free.

    Raises:
        DragomanError: it is taken, or the host is not an address of this machine.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # who comes before the models are loaded waits
    except OSError as error:
        raise DragomanError(
            f"{host}:{port}: {error.strerror or error}; name another --host or --port"
        ) from None
    return listener


def run(app: FastAPI, listener: socket.socket, *, grace: float) -> None:
    """Serve until SIGTERM or SIGINT.

    Then new connections are refused, and requests that were accepted are answered, for so many
    seconds.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # what people translate is nobody's business
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=int(grace),
        server_header=False,
    )
    # uvicorn finishes its work on SIGTERM, and then raises the signal again: that is the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[listener])
