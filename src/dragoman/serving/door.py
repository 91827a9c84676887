"""Send away at the door what comes while no model can take even a sentence more."""

import time
from http import HTTPStatus

from fastapi import FastAPI

from dragoman.serving.guard import HEADERS
from dragoman.serving.metrics import Metrics
from dragoman.serving.refusal import RefusalError, as_response

SECONDS_BEFORE_LOOKING_AGAIN = 0.01
"""To look is to count all that wait, which costs more than to refuse."""

_TRANSLATES = b"/translate"
"""It is in the paths of all protocols that a crowd would ask for."""


class Door:
    """Refuses requests from their address alone, before they are read and without the application.

    Through the application a refusal costs more than a millisecond, so that with twenty times as
    many requests as can be translated no time would be left to translate any.
    """

    def __init__(self, app: FastAPI, metrics: Metrics) -> None:
        self._state = app.state
        self._metrics = metrics
        self.num_coming = 0
        """Requests for translations that have come whole and were not answered; those that have no
        place in a queue yet may want one."""

        self._closed_until = 0.0
        self._answer_of: dict[bool, bytes] = {}
        """What is said to all, by whether they speak DeepL's protocol."""

    @staticmethod
    def is_for_translation(method: bytes, address: bytes) -> bool:
        """Tell by method and path whether a request may ask a model."""
        return method in (b"POST", b"GET") and _TRANSLATES in address.partition(b"?")[0]

    def refuse(self, method: bytes, address: bytes) -> bytes | None:
        """Write the answer, head and body, to a request that cannot be served now; else None.

        Args:
            method: Of HTTP.
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
                self._answer_of = {True: _write(error, "/v2/"), False: _write(error, "/")}
            else:
                return None
        self._metrics.count_refusal()
        return self._answer_of[address.startswith(b"/v2/")]


def _write(error: RefusalError, path: str) -> bytes:
    """Write what the application would answer."""
    response = as_response(error, path)
    response.headers.update(HEADERS | {"Access-Control-Allow-Origin": "*"})
    head = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}".encode()]
    head += [b"%s: %s" % field for field in response.raw_headers]
    return b"\r\n".join(head) + b"\r\n\r\n" + bytes(response.body)
