"""Small letters and capitals, which not all languages pair alike."""

import re
import unicodedata

from dragoman.languages.codes import base_language

WITH_ANOTHER_I = frozenset({"tr", "az"})
"""Languages in which the small letter of I is ı, and the capital of i is İ."""

_SMALL = str.maketrans("I\u0130", "\u0131i")
_CAPITAL = str.maketrans("i", "\u0130")
_STRESSED_BEFORE_I_OR_U = re.compile("(?<=[\u0391\u0395\u039f])\u0301([\u0399\u03a5])(?!\u0308)")


def in_small_letters(text: str, language: str) -> str:
    """Write a text in the small letters of its language.

    >>> in_small_letters("IŞIK", "tr"), in_small_letters("İYİ", "tr")
    ('ışık', 'iyi')
    >>> in_small_letters("IT", "en")
    'it'
    """
    return (text.translate(_SMALL) if _has_another_i(language) else text).lower()


def in_capitals(text: str, language: str) -> str:
    """Write a text in the capitals of its language.

    Greek capitals have no stress marks; a diaeresis then says which vowels stay apart.

    >>> in_capitals("iyi ışık", "tr_TR"), in_capitals("it", "en")
    ('İYİ IŞIK', 'IT')
    >>> in_capitals("άνθρωπος, Μάιος", "el")
    'ΑΝΘΡΩΠΟΣ, ΜΑΪΟΣ'
    """
    if base_language(language) == "el":
        stressed = unicodedata.normalize("NFD", text.upper())
        apart = _STRESSED_BEFORE_I_OR_U.sub("\\1\u0308", stressed)
        return unicodedata.normalize("NFC", re.sub("(?<=[\u0391-\u03a9\u0308])\u0301", "", apart))
    return (text.translate(_CAPITAL) if _has_another_i(language) else text).upper()


def with_capital(word: str, language: str) -> str:
    """Write a word with a capital at its beginning, as sentences begin; the rest stays.

    In Dutch, ij is one letter.

    >>> with_capital("iyi", "az"), with_capital("eBook", "en"), with_capital("ijs", "nl")
    ('İyi', 'EBook', 'IJs')
    """
    if base_language(language) == "nl" and word.startswith("ij"):
        return "IJ" + word[2:]
    first = word[:1].translate(_CAPITAL) if _has_another_i(language) else word[:1]
    return first.title() + word[1:]


def _has_another_i(language: str) -> bool:
    return base_language(language) in WITH_ANOTHER_I
