"""Refuse requests at the door while no model can take even one more sentence."""

import time
from http import HTTPStatus

from fastapi import FastAPI

from dragoman.serving.guard import HEADERS
from dragoman.serving.metrics import Metrics
from dragoman.serving.refusal import RefusalError, as_response

SECONDS_BEFORE_LOOKING_AGAIN = 0.01
"""Looking means counting all that wait, which costs more than refusing."""

_TRANSLATES = b"/translate"
"""Part of the paths that a crowd would ask for, in all protocols."""

_FOR_ANY_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Retry-After",
}


class Door:
    """Refuses requests by their address alone, before they are read and without the application.

    Through the application a refusal costs more than a millisecond: with twenty times as many
    requests as can be translated, no time would be left to translate any.
    """

    def __init__(self, app: FastAPI, metrics: Metrics) -> None:
        self._state = app.state
        self._metrics = metrics
        self.num_coming = 0
        """Connections with a request for a translation that has arrived completely and was not
        answered; those without a place in a queue may want one."""

        self._closed_until = 0.0
        self._answer_of: dict[bool, bytes] = {}
        """The answer to all, by whether they speak DeepL's protocol."""

    @staticmethod
    def is_for_translation(method: bytes, address: bytes) -> bool:
        """Tell by method and path whether a request may ask a model."""
        return method in (b"POST", b"GET") and _TRANSLATES in address.partition(b"?")[0]

    def refuse(self, method: bytes, address: bytes) -> bytes | None:
        """Write the answer, head and body, to a request that cannot be served now; else None.

        Args:
            method: The HTTP method.
            address: Path and query.
        """
        if not self.is_for_translation(method, address):
            return None
        now = time.monotonic()
        if now >= self._closed_until:
            try:
                self._state.service.check_crowd(self.num_coming)
            except RefusalError as error:
                self._closed_until = now + SECONDS_BEFORE_LOOKING_AGAIN
                self._answer_of = {True: written(error, "/v2/"), False: written(error, "/")}
            else:
                return None
        self._metrics.count_refusal()
        return self._answer_of[address.startswith(b"/v2/")]


def written(error: RefusalError, path: str, **more: str) -> bytes:
    """Write what the application would answer, and perhaps more headers."""
    response = as_response(error, path)
    response.headers.update(HEADERS | _FOR_ANY_ORIGIN | more)
    head = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}".encode()]
    head += [b"%s: %s" % field for field in response.raw_headers]
    return b"\r\n".join(head) + b"\r\n\r\n" + bytes(response.body)
