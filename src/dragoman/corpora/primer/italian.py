"""Italian articles, articulated prepositions and agreement."""

from typing import Literal

Gender = Literal["m", "f"]

VOWELS = "aeiouàèéìòùh"
"""Letters before which articles elide; h is silent."""

PARTITIVES = ("del", "dello", "dell'", "della", "dei", "degli", "delle")

_ARTICULATED = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su"}
_AFTER_STEM = {
    "il": "l",
    "lo": "llo",
    "l'": "ll'",
    "i": "i",
    "gli": "gli",
    "la": "lla",
    "le": "lle",
}


def starts_with_vowel(word: str) -> bool:
    """Whether an article before this word elides."""
    return word[0].lower() in VOWELS


def takes_lo(word: str) -> bool:
    """Whether a masculine article before this word is lo or gli: s + consonant, z, gn, ps, x, y."""
    lower = word.lower()
    if lower.startswith(("z", "gn", "ps", "pn", "x", "y")):
        return True
    return len(lower) > 1 and lower[0] == "s" and not starts_with_vowel(lower[1:])


def definite_article(next_word: str, gender: Gender, plural: bool) -> str:
    """Return il, lo, l', la, i, gli or le, whichever the next word asks for."""
    vowel = starts_with_vowel(next_word)
    if gender == "f":
        return "le" if plural else "l'" if vowel else "la"
    if plural:
        return "gli" if vowel or takes_lo(next_word) else "i"
    return "l'" if vowel else "lo" if takes_lo(next_word) else "il"


def indefinite_article(next_word: str, gender: Gender) -> str:
    """Return un, uno, una or un'."""
    if gender == "f":
        return "un'" if starts_with_vowel(next_word) else "una"
    return "uno" if takes_lo(next_word) else "un"


def articulated(preposition: str, article: str) -> str:
    """Join a preposition and a definite article; con, per and tra stay apart.

    >>> articulated("di", "gli"), articulated("in", "l'"), articulated("con", "il")
    ('degli', "nell'", 'con il')
    """
    if not article:
        return preposition
    if preposition not in _ARTICULATED:
        return f"{preposition} {article}"
    return _ARTICULATED[preposition] + _AFTER_STEM[article]


def euphonic(preposition: str, next_word: str) -> str:
    """Write *ad* for *a* before another a: *ad Anna*."""
    return "ad" if preposition == "a" and next_word[0] in "aA" else preposition


def before_vowel(tens: str, noun: str) -> str:
    """Write a cardinal number before a noun: the tens lose their vowel, *vent'anni*.

    >>> before_vowel("quaranta", "anni"), before_vowel("sette", "anni")
    ("quarant'anni", 'sette anni')
    """
    is_tens = tens.endswith("anta") or tens in ("venti", "trenta")
    return f"{tens[:-1]}'{noun}" if is_tens else f"{tens} {noun}"


def partitive(next_word: str, gender: Gender, plural: bool) -> str:
    """Return del, della, dei... in the sense of *some*."""
    return articulated("di", definite_article(next_word, gender, plural))


def bello(next_word: str, gender: Gender, plural: bool) -> str:
    """Return the form of *bello* before a noun: bel, bello, bell', bei, begli, bella, belle."""
    return "be" + _AFTER_STEM[definite_article(next_word, gender, plural)]


def quello(next_word: str, gender: Gender, plural: bool) -> str:
    """Return the form of *quello* before a noun; it follows *bello*."""
    return "que" + _AFTER_STEM[definite_article(next_word, gender, plural)]


def questo(next_word: str, gender: Gender, plural: bool) -> str:
    """Return the form of *questo* before a noun; it elides before vowels: *quest'uomo*."""
    if not plural and starts_with_vowel(next_word):
        return "quest'"
    return agree("questo", gender, plural)


def buono(next_word: str, gender: Gender, plural: bool) -> str:
    """Return the form of *buono* before a noun; only the masculine singular is shortened."""
    if gender == "m" and not plural and not takes_lo(next_word):
        return "buon"
    return agree("buono", gender, plural)


def agree(masculine: str, gender: Gender, plural: bool) -> str:
    """Inflect a participle, or a regular adjective in -o.

    >>> agree("andato", "f", True)
    'andate'
    """
    if gender == "f":
        return masculine[:-1] + ("e" if plural else "a")
    return masculine[:-1] + "i" if plural else masculine
