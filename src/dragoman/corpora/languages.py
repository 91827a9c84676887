"""The language pair as a user writes it."""

import re

from dragoman.errors import UsageError
from dragoman.languages.codes import LANGUAGE, language_code, same_language


def parse_languages(text: str) -> tuple[str, str]:
    """Split `en-it` into its two language codes.

    Raises:
        UsageError: it is written in another way.
    """
    match = re.fullmatch(rf"({LANGUAGE}(?:_\w+)?)-({LANGUAGE}(?:_\w+)?)", text, re.ASCII)
    if not match or same_language(match[1], match[2]):
        raise UsageError(
            f"{text}: write two language codes with a hyphen between, as en-it or en-pt_BR"
        )
    for name in match.groups():
        if code := language_code(name):
            raise UsageError(f"{text}: {name} is the name of a language; write its code, {code}")
    return match[1], match[2]
