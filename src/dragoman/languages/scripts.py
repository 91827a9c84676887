"""The scripts in which languages are written."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from dragoman.languages.codes import base_language, subtags

RANGES = {
    "Arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "Armenian": "\u0531-\u058a\ufb13-\ufb17",
    "Bengali": "\u0980-\u09ff",
    "Cyrillic": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "Devanagari": "\u0900-\u097f\ua8e0-\ua8ff",
    "Ethiopic": "\u1200-\u139f\u2d80-\u2ddf",
    "Georgian": "\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Gujarati": "\u0a80-\u0aff",
    "Gurmukhi": "\u0a00-\u0a7f",
    "Han": "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd",
    "Hangul": "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff",
    "Hebrew": "\u0590-\u05ff\ufb1d-\ufb4f",
    "Kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "Kannada": "\u0c80-\u0cff",
    "Khmer": "\u1780-\u17ff",
    "Lao": "\u0e80-\u0eff",
    "Latin": "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u1e00-\u1eff"
    "\u2c60-\u2c7f\ua720-\ua7ff\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a",
    "Malayalam": "\u0d00-\u0d7f",
    "Myanmar": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Sinhala": "\u0d80-\u0dff",
    "Tamil": "\u0b80-\u0bff",
    "Telugu": "\u0c00-\u0c7f",
    "Thai": "\u0e00-\u0e7f",
    "Tibetan": "\u0f00-\u0fff",
}
"""Code points of each script, as the inside of a regular expression's brackets."""

LANGUAGES = {
    "Latin": "af az br bs ca ceb cs cy da de en eo es et eu fi fil fo fr fy ga gd gl ha hr ht hu "
    "id ig is it jv ku la lb lt lv mg mi ms mt nb nl nn no oc pl pt ro sk sl so sq sr st su sv sw "
    "tk tl tr uz vi wo xh yo zu",
    "Cyrillic": "az ba be bg bs ce cv kk ky mk mn ru sr tg tk tt uk uz",
    "Arabic": "ar arz ckb fa ku ps sd ug ur",
    "Armenian": "hy",
    "Bengali": "as bn",
    "Devanagari": "bho hi mai mr ne sa",
    "Ethiopic": "am ti",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Han": "ja ko yue zh",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Kana": "ja",
    "Kannada": "kn",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Myanmar": "my",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
    "Tibetan": "bo dz",
}
"""Codes of the languages written in each script; a language may have several."""

_SUBTAGS = {"arab": "Arabic", "cyrl": "Cyrillic", "deva": "Devanagari", "latn": "Latin"}
"""Codes of scripts, for languages that have several (ISO 15924)."""

_RIGHT_TO_LEFT = frozenset({"Arabic", "Hebrew"})

EAST_ASIAN = frozenset({"Han", "Hangul", "Kana"})
"""The scripts of Chinese, Korean and Japanese, which may also be written downwards."""

EAST_ASIAN_CHARACTER = re.compile(
    "[" + "".join(RANGES[script] for script in sorted(EAST_ASIAN)) + "]"
)

_WITHOUT_SPACES = "".join(
    RANGES[script] for script in ["Han", "Kana", "Khmer", "Lao", "Myanmar", "Thai"]
)
UNSPACED = _WITHOUT_SPACES + RANGES["Hangul"]
"""Code points of scripts in which a word, a number or a name may follow another word without a
space. Korean has spaces between words, but none before a particle."""

UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")

WITHOUT_SPACES = re.compile(f"[{_WITHOUT_SPACES}]")
"""A character of a script that has no spaces between words, which Korean has."""

SENTENCE_ENDS = ".!?\u2026。！？｡．।॥؟۔።։။។"
"""Signs with which sentences end, in any script; some have other uses, too."""

CLOSING = (
    "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb\u2039\u203a)]}\uff09\u300d\u300f\u3011\u3009\u300b"
)
"""What may stand between a full stop and the end of its sentence."""

_LETTERS_OF_WIDE = 3  # that say as much as one character of East Asia


_JOINERS = "\u200c\u200d"


VOWELS_BEFORE = "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4"
"""Vowels of Thai and Lao that are written before their consonant."""

STACKERS = ("\u1039", "\u17d2")
"""The Burmese and Khmer marks that put the following letter below the preceding one."""


def is_mark(character: str) -> bool:
    """Tell whether a character is a mark on letters, or joins two as in Persian and Hindi.

    What chooses the look of an emoji is none.
    """
    if not character or "\ufe00" <= character <= "\ufe0f":
        return False
    return unicodedata.category(character) in ("Mn", "Mc") or character in _JOINERS


def is_combining(character: str) -> bool:
    """Tell whether a character changes the one before it, were it only its look."""
    return unicodedata.category(character).startswith("M") if character else False


@cache
def mark_pattern() -> str:
    r"""Write the pattern of a character for which `is_mark` holds.

    Those of all scripts are in two planes. They are so many that ASCII is not looked for among
    them.
    """
    marks = "".join(filter(is_mark, map(chr, range(0x20000))))
    return rf"(?![\x00-\x7f])[{marks}]"


@cache
def word_pattern() -> str:
    r"""Write the pattern of a word, in any script that has spaces between words.

    Vowel signs, as those of Hindi and Thai, are no `\w`.
    """
    return rf"\w+(?:{mark_pattern()}+\w*)*"


@lru_cache
def scripts_of(language: str) -> frozenset[str]:
    """Name the scripts in which a language is written; none if they are not known.

    >>> sorted(scripts_of("ja")), sorted(scripts_of("sr_RS")), sorted(scripts_of("tlh"))
    (['Han', 'Kana'], ['Cyrillic', 'Latin'], [])
    >>> sorted(scripts_of("sr_Cyrl"))
    ['Cyrillic']
    """
    if named := [_SUBTAGS[subtag] for subtag in subtags(language) if subtag in _SUBTAGS]:
        return frozenset(named)
    code = base_language(language)
    return frozenset(script for script, codes in LANGUAGES.items() if code in codes.split())


def is_right_to_left(language: str) -> bool:
    """Tell whether a language is written from right to left, in all scripts that it has.

    >>> is_right_to_left("he"), is_right_to_left("fa_IR"), is_right_to_left("ku")
    (True, True, False)
    """
    scripts = scripts_of(language)
    return bool(scripts) and scripts <= _RIGHT_TO_LEFT


def loses_columns(source: str, target: str) -> bool:
    """Tell whether columns of text, which run downwards, are lines in a translation.

    Chinese, Japanese and Korean may be written in columns; letters of other scripts lie on their
    side in them.

    >>> loses_columns("ja", "en"), loses_columns("ja", "zh_Hant"), loses_columns("en", "de")
    (True, False, False)
    """
    return not scripts_of(source).isdisjoint(EAST_ASIAN) and (
        scripts_of(target).isdisjoint(EAST_ASIAN)
    )


def are_varieties(one: str, other: str) -> bool:
    """Tell whether two codes are of one language in one script: much text is the same in both.

    >>> are_varieties("pt_PT", "pt_BR"), are_varieties("sr_Latn", "sr_Cyrl")
    (True, False)
    """
    return base_language(one) == base_language(other) and not share_no_script(one, other)


def share_no_script(one: str, other: str) -> bool:
    """Tell whether two languages are written in different scripts, as far as these are known."""
    scripts = scripts_of(one), scripts_of(other)
    return all(scripts) and scripts[0].isdisjoint(scripts[1])


def letters_outside(*languages: str) -> re.Pattern[str] | None:
    """Return a pattern for a letter of a script in which none of the languages is written.

    Args:
        languages: ISO 639 codes; a region after one is ignored (`pt_BR`).

    Returns:
        None if the scripts of one of them are not known.
    """
    of_each = [scripts_of(language) for language in languages]
    if not all(of_each):
        return None
    scripts = sorted(frozenset().union(*of_each))
    return re.compile(r"[^\W\d_" + "".join(RANGES[script] for script in scripts) + "]")


def weighted_length(text: str) -> int:
    """Count characters, those of Chinese, Japanese and Korean several times: they say as much.

    >>> weighted_length("猫 cat")
    7
    """
    if text.isascii():
        return len(text)
    return len(text) + (_LETTERS_OF_WIDE - 1) * len(EAST_ASIAN_CHARACTER.findall(text))


def share_in_script(text: str, outside: re.Pattern[str]) -> float:
    """Return the share of the letters of a text that `letters_outside` does not match.

    They are weighted as in `weighted_length`. It is 1 for a text without letters.
    """
    if text.isascii() and not outside.match("a"):  # Latin letters, in a language that has them
        return 1.0
    num_outside = _weigh_letters(outside.findall(text))  # ½ is a \w, and no letter
    return 1 - num_outside / _weigh_letters(text) if num_outside else 1.0


def _weigh_letters(characters: Iterable[str]) -> int:
    return weighted_length("".join(filter(str.isalpha, characters)))


def is_unspaced(text: str) -> bool:
    """Tell whether a text is written without spaces between words, as Chinese and Japanese are."""
    letters = sum(map(str.isalpha, text))
    return 2 * len(WITHOUT_SPACES.findall(text)) > letters > 0
