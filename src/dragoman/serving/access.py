"""Who may use a server."""

import hashlib
import hmac

from starlette.requests import Request

from dragoman.serving.refusal import RefusalError
from dragoman.tokenizers.normalisation import encodable


def check_key(request: Request, api_key: str | None = None) -> None:
    """Look for one of the server's keys: in a field, or in the header `Authorization`.

    The header is `DeepL-Auth-Key KEY` or `Bearer KEY`; either works with every protocol.

    Raises:
        RefusalError: there are keys, and the request has none of them.
    """
    keys = request.app.state.service.settings.api_keys
    if not keys:
        return
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("deepl-auth-key", "bearer"):
        value = ""
    # Starlette reads the bytes of a header as Latin-1.
    given = _digest((encodable(api_key).encode() if api_key else value.encode("latin-1")).strip())
    # All are compared, and all have one length, so that the time reveals nothing.
    if not sum(hmac.compare_digest(given, _digest(_as_given(key))) for key in keys):
        raise RefusalError(403, "the API key is missing or wrong")


def _as_given(key: str) -> bytes:
    """Return the bytes of a key; Python reads those of an option that are not UTF-8 like this."""
    return key.encode(errors="surrogateescape").strip()


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
