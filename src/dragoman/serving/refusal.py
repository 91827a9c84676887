"""What a client is told when it does not get a translation."""

import re

from starlette.responses import JSONResponse

from dragoman.errors import DragomanError


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


def as_response(error: RefusalError, path: str) -> JSONResponse:
    """Write a refusal in the form of the protocol to which a path belongs."""
    field = "message" if re.match(r"/v\d+/", path) else "error"  # DeepL's, in any version
    headers = {} if error.retry_after is None else {"Retry-After": str(max(1, error.retry_after))}
    return JSONResponse({field: str(error)}, status_code=error.status, headers=headers)
