"""Codes and names of languages."""

import re
from collections.abc import Sequence
from functools import lru_cache

LANGUAGE = "[A-Za-z]{2,8}"
"""What a code begins with, as a regular expression."""

_NAMES = """
af Afrikaans, am Amharic = አማርኛ, ar Arabic = العربية, az Azerbaijani = azərbaycanca,
be Belarusian = беларуская, bg Bulgarian = български, bn Bengali = বাংলা, bs Bosnian = bosanski,
ca Catalan = català, cs Czech = čeština, cy Welsh = Cymraeg, da Danish = dansk,
de German = Deutsch, el Greek = ελληνικά, en English, eo Esperanto, es Spanish = español,
et Estonian = eesti, eu Basque = euskara, fa Persian = فارسی, fi Finnish = suomi,
fr French = français, ga Irish = Gaeilge, gd Scottish Gaelic = Gàidhlig, gl Galician = galego,
gu Gujarati = ગુજરાતી, ha Hausa, he Hebrew = עברית, hi Hindi = हिन्दी, hr Croatian = hrvatski,
hu Hungarian = magyar, hy Armenian = հայերեն, id Indonesian = Bahasa Indonesia, ig Igbo,
is Icelandic = íslenska, it Italian = italiano, ja Japanese = 日本語, jv Javanese = Basa Jawa,
ka Georgian = ქართული, kk Kazakh = қазақша, km Khmer = ខ្មែរ, kn Kannada = ಕನ್ನಡ, ko Korean = 한국어,
ku Kurdish = kurdî, ky Kyrgyz = кыргызча, la Latin = Latina, lb Luxembourgish = Lëtzebuergesch,
lo Lao = ລາວ, lt Lithuanian = lietuvių, lv Latvian = latviešu, mg Malagasy,
mk Macedonian = македонски, ml Malayalam = മലയാളം, mn Mongolian = монгол, mr Marathi = मराठी,
ms Malay = Bahasa Melayu, mt Maltese = Malti, my Burmese = မြန်မာ,
nb Norwegian Bokmål = norsk bokmål, ne Nepali = नेपाली, nl Dutch = Nederlands,
nn Norwegian Nynorsk = norsk nynorsk, no Norwegian = norsk, oc Occitan, pa Punjabi = ਪੰਜਾਬੀ,
pl Polish = polski, ps Pashto = پښتو, pt Portuguese = português, ro Romanian = română,
ru Russian = русский, sd Sindhi = سنڌي, si Sinhala = සිංහල, sk Slovak = slovenčina,
sl Slovenian = slovenščina, so Somali = Soomaali, sq Albanian = shqip, sr Serbian = српски,
sv Swedish = svenska, sw Swahili = Kiswahili, ta Tamil = தமிழ், te Telugu = తెలుగు,
tg Tajik = тоҷикӣ, th Thai = ไทย, tk Turkmen = türkmençe, tl Tagalog, tr Turkish = Türkçe,
ug Uyghur = ئۇيغۇرچە, uk Ukrainian = українська, ur Urdu = اردو, uz Uzbek = oʻzbekcha,
vi Vietnamese = Tiếng Việt, xh Xhosa = isiXhosa, yi Yiddish = ייִדיש, yo Yoruba = Yorùbá,
zh Chinese = 中文, zu Zulu = isiZulu
"""
"""In English, and in the language itself where it has another name there."""

_NAMES_AMONG_EACH_OTHER = """
de allemand = alemán = tedesco = Duits = niemiecki = alemão,
en Englisch = anglais = inglés = inglese = Engels = angielski = inglês,
es Spanisch = espagnol = spagnolo = Spaans = hiszpański = espanhol,
fr Französisch = francés = francese = Frans = francuski = francês,
it Italienisch = italien = Italiaans = włoski,
nl Niederländisch = néerlandais = neerlandés = olandese = niderlandzki = neerlandês,
pl Polnisch = polonais = polaco = polacco = Pools = polonês,
pt Portugiesisch = portugais = portugués = portoghese = Portugees = portugalski
"""
"""Of languages that often stand beside each other in tables, in each of them: people name both
columns in the language that they write."""

_OTHER_CODES = """
af afr, am amh, ar ara arb, as asm, az aze azj, ba bak, be bel, bg bul, bn ben, bo bod tib, br bre,
bs bos, ca cat, ce che, cs ces cze, cv chv, cy cym wel, da dan, de deu ger, dz dzo, el ell gre,
en eng, eo epo, es spa, et est ekk, eu eus baq, fa fas per pes, fi fin, fo fao, fr fra fre, fy fry,
ga gle, gd gla, gl glg, gu guj, ha hau, he heb iw, hi hin, hr hrv, ht hat, hu hun, hy hye arm,
id ind in, ig ibo, is isl ice, it ita, ja jpn, jv jav, ka kat geo, kk kaz, km khm, kn kan, ko kor,
ku kur kmr, ky kir, la lat, lb ltz, lo lao, lt lit, lv lav lvs, mg mlg plt, mi mri mao, mk mkd mac,
ml mal, mn mon khk, mr mar, ms msa may zsm, mt mlt, my mya bur, nb nob, ne nep npi, nl nld dut,
nn nno, no nor, oc oci, pa pan, pl pol, ps pus pbt, pt por, ro ron rum mo, ru rus, sa san, sd snd,
si sin, sk slk slo, sl slv, so som, sq sqi alb als, sr srp, st sot, su sun, sv swe,
sw swa swh, ta tam, te tel, tg tgk, th tha, ti tir, tk tuk, tl tgl, tr tur, tt tat, ug uig, uk ukr,
ur urd, uz uzb uzn, vi vie, wo wol, xh xho, yi yid ydd ji, yo yor, zh zho chi cmn, zu zul
"""
"""Those of ISO 639-2 and 639-3 (with the usual individual language of a macrolanguage, such as
Mandarin of Chinese), and former ones."""


def _read_names(table: str) -> dict[str, list[str]]:
    entries = (" ".join(entry.split()).split(" ", 1) for entry in table.split(","))
    return {code: names.split(" = ") for code, names in entries}


_NAMES_OF = _read_names(_NAMES)
_FOREIGN_NAMES_OF = _read_names(_NAMES_AMONG_EACH_OTHER)
_CODE_OF = {
    other: code
    for code, *others in (entry.split() for entry in _OTHER_CODES.split(","))
    for other in others
}


LETTERS_OF_SCRIPT = 4
"""In a code of ISO 15924; those of regions are shorter."""

_SCRIPT_OF_REGION = {"cn": "hans", "sg": "hans", "hk": "hant", "mo": "hant", "tw": "hant"}
"""In which script Chinese is written there; many programs name it so."""

_SCRIPT_OF_MODIFIER = {"cyrillic": "Cyrl", "devanagari": "Deva", "latin": "Latn"}
"""How locales name scripts, as in uz_UZ@cyrillic."""


def language_name(code: str) -> str:
    """Name a language in English; an unknown code is its own name.

    >>> language_name("it"), language_name("pt_BR"), language_name("deu"), language_name("tlh")
    ('Italian', 'Portuguese (BR)', 'German', 'tlh')
    >>> language_name("ZH-HANS")
    'Chinese (Hans)'
    """
    base, _, region = language_tag(code).partition("-")
    name, *_ = _NAMES_OF.get(base_language(base), [base])
    if len(region) == LETTERS_OF_SCRIPT:
        region = region.title()
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
    if name.lower() in _CODE_OF:
        return None  # Lao has the code lao, too
    return next(
        (code for code, known in _NAMES_OF.items() if known[0].lower() == name.lower()), None
    )


def names_language(text: str, code: str) -> bool:
    """Tell whether a text is a code or a name of a language, whatever region is given with either.

    >>> names_language("EN-US", "en"), names_language("English", "en_GB")
    (True, True)
    >>> names_language("Italienisch", "it"), names_language("Dänisch", "da")
    (True, False)
    """
    base = base_language(code)
    names = map(str.lower, [*_NAMES_OF.get(base, []), *_FOREIGN_NAMES_OF.get(base, [])])
    return base_language(text) in (base, *names)


def same_language(one: str, other: str) -> bool:
    """Tell whether two codes are the same, apart from case and the way regions are joined.

    >>> same_language("pt_BR", "PT-br"), same_language("pt", "pt-BR")
    (True, False)
    """
    return language_tag(one).lower() == language_tag(other).lower()


def closest_language(codes: Sequence[str], language: str) -> str | None:
    """Find the first code that is the same, or else the first that names the same script.

    If there is none either, it is the first where only one of the two has a region.

    >>> closest_language(["de", "en-GB", "en"], "EN"), closest_language(["en-GB", "de"], "en")
    ('en', 'en-GB')
    >>> closest_language(["pt-PT", "es"], "pt-BR")
    >>> closest_language(["zh", "zh-TW", "zh-CN"], "zh_Hans")
    'zh-CN'
    """
    for fits in (same_language, _name_one_script, _differ_in_having_a_region):
        for code in codes:
            if fits(code, language):
                return code
    return None


def closest_languages(
    codes: Sequence[str], languages: tuple[str, str]
) -> tuple[str | None, str | None]:
    """Find the codes closest to those of a source and of a target; one code is not both.

    >>> closest_languages(["en", "zh_CN"], ("en_GB", "zh_Hans"))
    ('en', 'zh_CN')
    >>> closest_languages(["pt", "es"], ("pt_PT", "pt_BR"))
    ('pt', None)
    """
    source, target = (closest_language(codes, language) for language in languages)
    return source, None if source == target else target


def _differ_in_having_a_region(one: str, other: str) -> bool:
    """Tell whether two codes are of one language, and one of them names nothing but that language.

    >>> _differ_in_having_a_region("EN-GB", "en"), _differ_in_having_a_region("pt-PT", "pt-BR")
    (True, False)
    """
    base = base_language(one)
    return base == base_language(other) and (same_language(base, one) or same_language(base, other))


def _name_one_script(one: str, other: str) -> bool:
    """Tell whether two codes are of one language, and name the same script of it.

    >>> _name_one_script("zh-TW", "zh_Hant"), _name_one_script("pt-PT", "pt-BR")
    (True, False)
    """
    script = _named_script(one)
    same = base_language(one) == base_language(other)
    return same and script is not None and script == _named_script(other)


@lru_cache
def base_language(code: str) -> str:
    """Return the language of a code, without its region, and with two letters if it has two.

    >>> base_language("EN-GB"), base_language("zho_Hans"), base_language("sr@latin")
    ('en', 'zh', 'sr')
    """
    base = re.split("[-_@]", code, maxsplit=1)[0].lower()
    return _CODE_OF.get(base, base)


def stands_in_for(code: str, other: str) -> bool:
    """Tell whether two codes are of one language, regions aside, and name no two scripts of it.

    Norwegian that names no form of it is Bokmål.

    >>> stands_in_for("pt-BR", "pt_PT"), stands_in_for("sr-Latn", "sr")
    (True, True)
    >>> stands_in_for("NB", "no"), stands_in_for("nn", "no")
    (True, False)
    >>> stands_in_for("sr@latin", "sr-Cyrl-RS"), stands_in_for("zh-Hans", "zh-TW")
    (False, False)
    """
    languages = {"no" if (base := base_language(each)) == "nb" else base for each in (code, other)}
    if len(languages) > 1:
        return False
    one, another = _named_script(code), _named_script(other)
    return one is None or another is None or one == another


def _named_script(code: str) -> str | None:
    """Return the script that a code names, in small letters; regions of Chinese name theirs."""
    named = subtags(code)
    if base_language(code) == "zh":
        named = [_SCRIPT_OF_REGION.get(subtag, subtag) for subtag in named]
    return next((subtag for subtag in named if len(subtag) == LETTERS_OF_SCRIPT), None)


def subtags(code: str) -> list[str]:
    """Return what stands behind the language in a code, such as a script, in small letters."""
    return language_tag(code).lower().split("-")[1:]


def language_tag(code: str) -> str:
    """Write a code as XML and HTML have it (BCP 47), with hyphens.

    In gettext and locales, a script or a variant stands behind an at sign.

    >>> language_tag("pt_BR"), language_tag("sr_RS@latin"), language_tag("ca@valencia")
    ('pt-BR', 'sr-Latn-RS', 'ca-valencia')
    """
    tag, _, modifier = code.replace("_", "-").partition("@")
    if script := _SCRIPT_OF_MODIFIER.get(modifier):
        language, *rest = tag.split("-")
        return "-".join([language, script, *rest])
    return f"{tag}-{modifier}" if modifier else tag
