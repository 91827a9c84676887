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
    """Of all the texts of a request, or of a file. An empty text counts as one."""

    max_waiting_characters: int = 1_000_000
    """Of the requests for one model that wait; with more, new ones are asked to come later."""

    timeout: float = 120.0
    """Seconds in which a translation must be ready."""

    body_timeout: float = 30.0
    """Seconds in which a request must have arrived."""

    def __post_init__(self) -> None:
        for name in ("max_characters", "max_waiting_characters", "timeout", "body_timeout"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}={getattr(self, name)} is not positive")
        if not all(self.api_keys):
            raise ValueError("an API key is empty")

    @property
    def max_body_bytes(self) -> int:
        """Bytes of the longest request that could be within the limit of characters."""
        return _BYTES_FOR_EACH_CHARACTER * self.max_characters + _BYTES_FOR_THE_REST
