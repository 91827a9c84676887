"""Fetch a file over HTTP, and resume where an earlier attempt stopped."""

import http.client
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from dragoman.corpora.text_file import CorpusError

ATTEMPTS = 5
FIRST_PAUSE = 1.0  # seconds before the second attempt; each later pause is twice as long
TIMEOUT = 60.0  # seconds without a byte
CHUNK = 2**18  # bytes

PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
}
"""Client errors after which another attempt may succeed, as it may after every server error."""

NETWORK_ERRORS = (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException)


class NotFoundError(CorpusError):
    """The server has no such file."""


def download(url: str, path: Path) -> None:
    """Fetch a file.

    Data is kept in `path` + ".part" until the file is complete, even after an error, and the next
    call resumes from there if the file on the server is still the same.

    Args:
        url: An HTTP address.
        path: Where the file goes. It appears there only when it is complete.

    Raises:
        NotFoundError: the server says that it has no such file.
        CorpusError: the server cannot be reached, keeps failing or cuts the file short, or the
            disk is full.
    """
    part = path.with_name(path.name + ".part")
    for attempt in range(ATTEMPTS):
        try:
            _fetch(url, part)
            break
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1 or _is_final(error):
                raise _explained(error, url) from error
            time.sleep(FIRST_PAUSE * 2**attempt)
    part.replace(path)
    _validator_file(part).unlink(missing_ok=True)


def fetch_text(url: str) -> str:
    """Return a server's answer to one request.

    Raises:
        CorpusError: the server cannot be reached, or does not answer in UTF-8.
    """
    try:
        with _open(urllib.request.Request(url)) as response:
            return response.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{url}: the answer is not text") from error
    except (OSError, http.client.HTTPException) as error:
        raise _explained(error, url) from error


def _open(request: urllib.request.Request) -> http.client.HTTPResponse:
    """Send a request to an HTTP server; other addresses, such as `file:`, are refused."""
    if urlsplit(request.full_url).scheme not in ("http", "https"):
        raise CorpusError(f"{request.full_url}: only http and https addresses are fetched")
    response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
    return response


def _fetch(url: str, part: Path) -> None:
    """Fetch what is missing of a file, or all of it if the server cannot resume."""
    offset, headers = _resumption(part)
    try:
        response = _open(urllib.request.Request(url, headers=headers))
    except urllib.error.HTTPError as error:
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)
        raise
    with response:
        if response.status != HTTPStatus.PARTIAL_CONTENT:
            offset = 0
            part.unlink(missing_ok=True)  # first, or another call would join it to the new file
            _validator_file(part).write_text(_validator(response), encoding="utf-8")
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
            part.unlink()
            raise http.client.HTTPException("the server sent a range that was not requested")
        with part.open("ab" if offset else "wb") as file:
            file.writelines(_chunks(response))
            received = file.tell() - offset
    expected = int(response.headers.get("Content-Length", received))
    if received != expected:  # http.client takes a lost connection for the end of the file
        raise http.client.IncompleteRead(b"", expected - received)


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Read an answer; what goes wrong meanwhile is no fault of the disk."""
    try:
        while chunk := response.read(CHUNK):
            yield chunk
    except OSError as error:
        raise http.client.HTTPException(str(error)) from error


def _resumption(part: Path) -> tuple[int, dict[str, str]]:
    """Return how many bytes are there, and the headers that ask for the rest.

    Without a validator, the rest might be that of another file.
    """
    validator_file = _validator_file(part)
    if not part.exists() or not validator_file.exists():
        return 0, {}
    validator = validator_file.read_text(encoding="utf-8")
    offset = part.stat().st_size
    if not validator or not offset:
        return 0, {}
    return offset, {"Range": f"bytes={offset}-", "If-Range": validator}


def _validator_file(part: Path) -> Path:
    """Return the file that records which version of a file a part belongs to."""
    return part.with_name(part.name + ".version")


def _validator(response: http.client.HTTPResponse) -> str:
    """Return what If-Range may compare (RFC 9110, section 13.1.5), or nothing."""
    entity_tag: str = response.headers.get("ETag", "")
    if entity_tag and not entity_tag.startswith("W/"):
        return entity_tag
    date: str = response.headers.get("Last-Modified", "")
    return date


def _is_final(error: Exception) -> bool:
    """Say whether another attempt would fail in the same way."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in PASSING
    if isinstance(error, urllib.error.URLError):
        return isinstance(error.reason, (socket.gaierror, ssl.SSLCertVerificationError))
    return not isinstance(error, NETWORK_ERRORS)  # an error of the disk


def _explained(error: Exception, url: str) -> CorpusError:
    """Say in one sentence what went wrong, and what to do."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        if error.code == HTTPStatus.NOT_FOUND:
            return NotFoundError(f"{url}: the server has no such file")
        return CorpusError(f"{url}: the server answers {error.code} {error.reason}; try later")
    if isinstance(error, urllib.error.URLError):
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            return CorpusError(  # python.org's for macOS has none until that command is run
                f"{urlsplit(url).netloc} cannot be trusted ({error.reason}); if this Python has no "
                "certificates, run its Install Certificates.command (macOS), or name a file that "
                "has them in SSL_CERT_FILE"
            )
        return CorpusError(
            f"{urlsplit(url).netloc} cannot be reached ({error.reason}); check the network, "
            "and the proxy in https_proxy if there is one"
        )
    if isinstance(error, NETWORK_ERRORS):
        return CorpusError(
            f"{url}: the transfer keeps failing ({error}); run the command again to go on from "
            "where it stopped"
        )
    return CorpusError(f"{url}: the file cannot be written ({error}); make room and run it again")
