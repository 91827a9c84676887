"""The language pair as a user writes it."""

import re
from collections.abc import Callable

from dragoman.errors import UsageError
from dragoman.languages.codes import (
    LANGUAGE,
    base_language,
    language_code,
    language_name,
    same_language,
)
from dragoman.languages.scripts import scripts_of

_COUNTRIES = "cn zh, cz cs, dk da, gr el, ir fa, jp ja, kr ko, rs sr, tw zh, ua uk, us en, vn vi"
_OF_COUNTRY = dict(pair.split() for pair in _COUNTRIES.split(", "))
"""The language of a country whose code is often written for it."""


def parse_languages(text: str) -> tuple[str, str]:
    """Split `en-it` into its two language codes.

    Raises:
        UsageError: it is written in another way.
    """
    match = re.fullmatch(rf"({LANGUAGE}(?:_\w+)?)-({LANGUAGE}(?:_\w+)?)", text, re.ASCII)
    if not match:
        raise UsageError(
            f"{text}: write two language codes with a hyphen between, as en-it or en-pt_BR"
        )
    if same_language(match[1], match[2]):
        raise UsageError(f"{text}: source and target are the same language; write two, as en-it")
    for name in match.groups():
        if code := language_code(name):
            raise UsageError(f"{text}: {name} is the name of a language; write its code, {code}")
    return match[1], match[2]


def warn_of_unknown(languages: tuple[str, str], say: Callable[[str], None]) -> None:
    """Warn of codes of which not even the script is known, in a sentence each.

    >>> warn_of_unknown(("en", "cn"), print)  # doctest: +ELLIPSIS
    warning: the language cn is unknown, so ... as in English; Chinese is zh
    """
    for code in languages:
        if scripts_of(code):
            continue
        meant = _OF_COUNTRY.get(base_language(code))
        say(
            f"warning: the language {code} is unknown, so its script is not checked, and its "
            "sentences and words are split as in English"
            + (f"; {language_name(meant)} is {meant}" if meant else "")
        )
