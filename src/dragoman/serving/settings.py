"""What a server allows."""

from dataclasses import dataclass

MOST_ALTERNATIVES = 8
"""Translations of a text that a client may ask for, the best included."""

_BYTES_FOR_EACH_CHARACTER = 12  # as JSON may write an emoji: two escapes
_BYTES_FOR_THE_REST = 2**16


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a server allows its clients."""

    api_keys: tuple[str, ...] = ()
    """Any one of these opens the server; without any, it is open."""

    max_characters: int = 200_000
    """In all the texts of a request, or in a file. An empty text counts as one."""

    max_file_bytes: int = 10 * 2**20
    """Of a file that is sent, pictures included."""

    max_waiting_characters: int = 1_000_000
    """In the waiting requests for one model; with more, new ones are asked to come later."""

    max_wait: float = 3.0
    """Seconds that a request may wait for its turn; if it would be longer, and longer than its own
    translation takes, it is asked to come later."""

    max_connections: int = 800
    """At once. A process may usually have 1,024 files and connections open."""

    timeout: float = 120.0
    """Seconds in which a translation must be ready."""

    head_timeout: float = 10.0
    """Seconds in which the head of a request must have arrived, from its connection on."""

    body_timeout: float = 30.0
    """Seconds in which the rest of a request must have arrived."""

    read_timeout: float = 60.0
    """Seconds in which a client must read what it is sent."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "api_keys" and value <= 0:
                raise ValueError(f"{name}={value} is not positive")
        if not all(key.strip() for key in self.api_keys):
            raise ValueError("an API key is empty")

    @property
    def max_body_bytes(self) -> int:
        """Bytes of the longest request that could be within the limit of characters."""
        return _BYTES_FOR_EACH_CHARACTER * self.max_characters + _BYTES_FOR_THE_REST

    @property
    def max_upload_bytes(self) -> int:
        """Bytes of the longest request that could bring a file within the limits."""
        return max(self.max_body_bytes, self.max_file_bytes + _BYTES_FOR_THE_REST)
