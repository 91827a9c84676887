"""Offers of a client to switch to another protocol, such as HTTP/2."""

import re

_NAME = b"upgrade"
_HEADER = re.compile(rb"(?<![^\n])upgrade(?=[ \t]*:)", re.IGNORECASE)
_HIDDEN = b"x-upgrd"  # as long as the name


class OfferFilter:
    """Hides offers from the parser of a connection, wherever in a head its packets end.

    A server may ignore an offer (RFC 9110, 7.8). The parser would take what follows for that
    protocol, and lose the body of the request.
    """

    def __init__(self) -> None:
        self._line = b""
        """What has been passed on of the last line, with the line break before it."""
        self._kept = b""
        """What comes after that, and may be the beginning of the name."""

    def hide(self, data: bytes) -> bytes:
        """Return what the parser may have of a head, and of what follows it in the same packet."""
        num_passed = len(self._line)
        head, end, rest = (self._line + self._kept + data).partition(b"\r\n\r\n")
        begin = head.rfind(b"\n") + 1
        is_kept = not end and _NAME.startswith(head[begin:].strip().lower())
        head, self._kept = (head[:begin], head[begin:]) if is_kept else (head, b"")
        self._line = b"" if end else head[max(0, begin - len(b"\r\n")) :]
        return (_HEADER.sub(_HIDDEN, head) + end + rest)[num_passed:]
