"""What a client is told when it does not get a translation."""

import logging
import re
import secrets

from starlette.responses import JSONResponse

from dragoman.documents.document import DocumentError
from dragoman.errors import DragomanError
from dragoman.model_directory import ModelError
from dragoman.translator import MarkedUpError, SentenceError

_log = logging.getLogger(__name__)


_MOST_SHOWN = 40


class RefusalError(DragomanError):
    """A request that is not answered as it was meant; the message is for the client.

    Attributes:
        status: The HTTP status, which says who is to act: 4xx the client, 5xx the server.
        retry_after: Seconds after which the same request may succeed, if it may.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


def cut_short(sent: str) -> str:
    """Shorten what a client sent so that it fits into a sentence."""
    return sent if len(sent) <= _MOST_SHOWN else f"{sent[: _MOST_SHOWN - 1]}…"


def as_refusal(error: Exception) -> RefusalError:
    """Choose what a client is told of an error; what it is not told is logged."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, SentenceError):
        return RefusalError(413, str(error))
    if isinstance(error, MarkedUpError | DocumentError):
        return RefusalError(400, str(error))
    if not isinstance(error, DragomanError):
        number = secrets.token_hex(4)
        _log.error("error %s", number, exc_info=error)
        return RefusalError(
            500, f"something went wrong; the log of the server has it as error {number}"
        )
    _log.warning("%s", error)  # it may name files
    if isinstance(error, ModelError):
        return RefusalError(500, "the model is damaged; the log of the server says where")
    return RefusalError(400, "the model cannot do this")


def as_response(error: RefusalError, path: str) -> JSONResponse:
    """Write a refusal in the form of the protocol to which a path belongs."""
    field = "message" if re.match(r"/v\d+/", path) else "error"  # DeepL's, in any version
    headers = {} if error.retry_after is None else {"Retry-After": str(max(1, error.retry_after))}
    return JSONResponse({field: str(error)}, status_code=error.status, headers=headers)
