"""The pair of languages that a user writes."""

import re

from dragoman.config import UsageError
from dragoman.languages import LANGUAGE


def parse_languages(text: str) -> tuple[str, str]:
    """Split `en-it` into its two language codes.

    Raises:
        UsageError: it is written in another way.
    """
    match = re.fullmatch(rf"({LANGUAGE}(?:_\w+)?)-({LANGUAGE}(?:_\w+)?)", text, re.ASCII)
    if not match or match[1] == match[2]:
        raise UsageError(f"{text}: write two language codes with a hyphen between, as en-it")
    return match[1], match[2]
