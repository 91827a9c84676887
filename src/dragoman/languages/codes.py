"""Codes and names of languages."""

import re

LANGUAGE = "[A-Za-z]{2,8}"
"""What a code begins with, as a regular expression."""

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali,
bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English,
eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish,
gd Scottish Gaelic, gl Galician, gu Gujarati, ha Hausa, he Hebrew, hi Hindi, hr Croatian,
hu Hungarian, hy Armenian, id Indonesian, ig Igbo, is Icelandic, it Italian, ja Japanese,
jv Javanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ku Kurdish, ky Kyrgyz,
la Latin, lb Luxembourgish, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mk Macedonian,
ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb Norwegian Bokmål,
ne Nepali, nl Dutch, nn Norwegian Nynorsk, no Norwegian, oc Occitan, pa Punjabi, pl Polish,
ps Pashto, pt Portuguese, ro Romanian, ru Russian, sd Sindhi, si Sinhala, sk Slovak,
sl Slovenian, so Somali, sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu,
tg Tajik, th Thai, tk Turkmen, tl Tagalog, tr Turkish, ug Uyghur, uk Ukrainian, ur Urdu,
uz Uzbek, vi Vietnamese, xh Xhosa, yi Yiddish, yo Yoruba, zh Chinese, zu Zulu
"""
CODE_OF_THREE = 3
"""Number of letters in codes of ISO 639-3."""

_NAME_OF = dict(entry.strip().split(" ", 1) for entry in _NAMES.split(","))


def language_name(code: str) -> str:
    """Name a language in English; an unknown code is its own name.

    >>> language_name("it"), language_name("pt_BR"), language_name("tlh")
    ('Italian', 'Portuguese (BR)', 'tlh')
    """
    base, _, region = code.replace("_", "-").partition("-")
    name = _NAME_OF.get(base.lower(), base)
    return f"{name} ({region})" if region else name


def is_language_code(text: str) -> bool:
    """Tell whether a text has the form of a language code, with or without a region.

    >>> is_language_code("it"), is_language_code("pt_BR"), is_language_code("zh-Hans")
    (True, True, True)
    >>> is_language_code("en it"), is_language_code("e"), is_language_code("perché")
    (False, False, False)
    """
    return re.fullmatch(rf"{LANGUAGE}(?:[-_]\w+)*", text, re.ASCII) is not None


def language_code(name: str) -> str | None:
    """Find the code of a language by its English name.

    >>> language_code("italian"), language_code("it")
    ('it', None)
    """
    if len(name) == CODE_OF_THREE:
        return None  # Lao has the code lao, too
    return next((code for code, known in _NAME_OF.items() if known.lower() == name.lower()), None)


def same_language(one: str, other: str) -> bool:
    """Tell whether two codes are the same, apart from case and the way regions are joined.

    >>> same_language("pt_BR", "PT-br"), same_language("pt", "pt-BR")
    (True, False)
    """
    return one.replace("_", "-").lower() == other.replace("_", "-").lower()


def base_language(code: str) -> str:
    """Return the language of a code, without its region.

    >>> base_language("EN-GB")
    'en'
    """
    return code.replace("_", "-").partition("-")[0].lower()
