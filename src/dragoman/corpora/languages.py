"""The pair of languages that a user writes."""

import re

from dragoman.corpora.text_file import CorpusError

_LANGUAGE = "[A-Za-z]{2,8}"


def parse_languages(text: str) -> tuple[str, str]:
    """Split `en-it` into its two language codes.

    Raises:
        CorpusError: it is written in another way.
    """
    match = re.fullmatch(rf"({_LANGUAGE}(?:_\w+)?)-({_LANGUAGE}(?:_\w+)?)", text, re.ASCII)
    if not match or match[1] == match[2]:
        raise CorpusError(f"{text}: write two language codes with a hyphen between, as en-it")
    return match[1], match[2]


def is_language_code(text: str) -> bool:
    """Tell whether a text has the form of a language code, with or without a region.

    >>> is_language_code("it"), is_language_code("pt_BR"), is_language_code("zh-Hans")
    (True, True, True)
    >>> is_language_code("en it"), is_language_code("e"), is_language_code("perché")
    (False, False, False)
    """
    return re.fullmatch(rf"{_LANGUAGE}(?:[-_]\w+)*", text, re.ASCII) is not None
