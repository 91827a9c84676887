"""Who does what to whom: subjects, objects and their pronouns, drawn from a verb's classes."""

from functools import cache
from typing import NamedTuple

from dragoman.corpora.primer.derivation import Derivation, Phrase, Tokens, join
from dragoman.corpora.primer.english import Mood
from dragoman.corpora.primer.entries import Noun, Verb
from dragoman.corpora.primer.italian import Gender
from dragoman.corpora.primer.lexicon import nouns_of
from dragoman.corpora.primer.noun_phrases import (
    NounPhrase,
    adjective_for,
    noun_phrase,
    person_name,
    possessed,
)
from dragoman.corpora.primer.tables import read_table


class Subject(NamedTuple):
    """A subject; Italian drops the pronouns, so theirs has no Italian words."""

    english: Tokens
    italian: Tokens
    person: int
    """0 is I, 5 is they; a singular noun is 2."""
    gender: Gender
    plural: bool
    verb_bit: int
    """Links the verb; a dropped pronoun is linked to it too."""


class Complement(NamedTuple):
    """What follows the verb in English; in Italian a pronoun goes before it."""

    english: Tokens = ()
    italian: Tokens = ()
    clitic: Tokens = ()
    agreement: tuple[Gender, bool] | None = None
    """Gender and number of a direct object pronoun, with which participles agree."""
    preposition_bit: int = 0
    """Links the preposition that the verb asks for, if it asks for one in Italian."""


class Pronoun(NamedTuple):
    """A row of ``pronouns.tsv``."""

    english: str
    english_object: str
    person: int
    gender: Gender
    plural: bool
    accusative: str
    dative: str


ASKED = ("you", "he", "she", "they")
"""The pronouns that questions are asked about."""

_OWNERS = ("my", "your", "his", "her", "our", "their")
_SPOUSE_OWNERS = {"husband": ("my", "your", "her"), "wife": ("my", "your", "his")}
_INDEFINITES = {Mood.STATEMENT: "a", Mood.NEGATION: "no", Mood.QUESTION: "any"}

_SCHOOLING = ("parlare", "studiare", "insegnare")
"""Verbs after which languages and school subjects have no article: *studio italiano*."""

_COUNTS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("many", "many"),
)


@cache
def pronouns() -> tuple[Pronoun, ...]:
    """Return the personal pronouns; *you* is one person, *they* are masculine or mixed."""
    return tuple(
        Pronoun(
            row["english"],
            row["english_object"],
            int(row["person"]),
            "m" if row["gender"] == "m" else "f",
            row["number"] == "plural",
            row["italian_object"],
            row["italian_dative"],
        )
        for row in read_table("pronouns.tsv")
    )


@cache
def _pronouns_among(words: tuple[str, ...]) -> tuple[Pronoun, ...]:
    return tuple(one for one in pronouns() if not words or one.english in words)


def pronoun_subject(derivation: Derivation, among: tuple[str, ...] = ()) -> Subject:
    """Draw I, you, he, she, we or they, or one of those that are named."""
    one = derivation.choose(_pronouns_among(among))
    bit = derivation.link()
    return Subject(((one.english, bit),), (), one.person, one.gender, one.plural, bit)


def subject_of(derivation: Derivation, phrase: NounPhrase) -> Subject:
    """Make a noun phrase the subject."""
    bit = derivation.link()
    return Subject(phrase.english, phrase.italian, phrase.person, phrase.gender, phrase.plural, bit)


def subject_for(derivation: Derivation, verb: Verb) -> Subject:
    """Draw a subject that the verb can have."""
    if verb.human_subject:
        return human_subject(derivation, verb.subjects)
    noun = derivation.choose_new(verb.subjects)
    return subject_of(derivation, definite_phrase(derivation, noun))


def asked_subject(derivation: Derivation, verb: Verb) -> Subject:
    """Draw a subject for a question, which is never *I*."""
    subject = subject_for(derivation, verb)
    return pronoun_subject(derivation, ASKED) if subject.person == 0 else subject


def human_subject(derivation: Derivation, nouns: tuple[Noun, ...]) -> Subject:
    """Draw a pronoun, a name or one of the nouns."""
    if derivation.chance(0.5):
        return pronoun_subject(derivation)
    if derivation.chance(0.4):
        return subject_of(derivation, person_name(derivation))
    return subject_of(derivation, definite_phrase(derivation, derivation.choose_new(nouns)))


def definite_phrase(
    derivation: Derivation,
    noun: Noun,
    *,
    adjective_rate: float = 0.12,
    plural_rate: float = 0.3,
    demonstratives: bool = True,
) -> NounPhrase:
    """Return a phrase that points at something known: *the*, *my*, *this* or *Anna's*."""
    plural = is_plural(derivation, noun, plural_rate)
    adjective = None
    if noun.number != "bare" and derivation.chance(adjective_rate):
        adjective = adjective_for(derivation, noun)
    if noun.number in ("singular", "bare") and not noun.ownable:
        return noun_phrase(derivation, noun, "the", adjective=adjective)
    if noun.noun_class in ("family", "spouse"):
        owners = _SPOUSE_OWNERS.get(noun.key, _OWNERS)
        return noun_phrase(derivation, noun, derivation.choose(owners), plural=plural)
    if noun.ownable and (noun.noun_class == "acquaintance" or derivation.chance(0.35)):
        return _owned(derivation, noun, plural)
    word = "the"
    if demonstratives and noun.number != "mass" and derivation.chance(0.25):
        word = derivation.choose(("these", "those") if plural else ("this", "that"))
    return noun_phrase(derivation, noun, word, plural=plural, adjective=adjective)


def _owned(derivation: Derivation, noun: Noun, plural: bool) -> NounPhrase:
    if derivation.chance(0.75):
        return noun_phrase(derivation, noun, derivation.choose(_OWNERS), plural=plural)
    owner = person_name(derivation)
    return possessed(derivation, owner, noun_phrase(derivation, noun, "the", plural=plural))


def is_plural(derivation: Derivation, noun: Noun, rate: float) -> bool:
    """Draw the number of a noun that has both."""
    return noun.number == "plural" or (noun.number == "count" and derivation.chance(rate))


def _object_noun(derivation: Derivation, verb: Verb) -> Noun:
    noun = derivation.choose_new(verb.objects)
    derivation.combine("verb-object", verb.key, noun.key)
    return noun


def known_object(derivation: Derivation, verb: Verb) -> NounPhrase:
    """Draw an object noun of the verb and point at it."""
    return _known(derivation, verb, _object_noun(derivation, verb))


def _known(derivation: Derivation, verb: Verb, noun: Noun) -> NounPhrase:
    phrase = definite_phrase(derivation, noun, plural_rate=_plural_rate(verb))
    if verb.infinitive in _SCHOOLING and noun.noun_class in ("language", "subject"):
        return phrase._replace(article="")
    return phrase


def _plural_rate(verb: Verb) -> float:
    return 0 if verb.singular_object else 0.3


def object_phrase(derivation: Derivation, verb: Verb, mood: Mood) -> NounPhrase:
    """Draw an object noun of the verb with a determiner that fits the mood."""
    noun = _object_noun(derivation, verb)
    known = (
        verb.frame == "known"
        or noun.number in ("singular", "bare")
        or "human" in noun.groups
        or derivation.chance(0.6)
    )
    if known:
        return _known(derivation, verb, noun)
    return indefinite_phrase(derivation, noun, mood, plural_rate=_plural_rate(verb))


def indefinite_phrase(
    derivation: Derivation,
    noun: Noun,
    mood: Mood,
    *,
    plural_rate: float = 0.3,
    numbers: bool = True,
) -> NounPhrase:
    """Return a phrase that brings in something new: *a*, *some*, *any* or a number."""
    plural = is_plural(derivation, noun, plural_rate)
    adjective = adjective_for(derivation, noun) if derivation.chance(0.3) else None
    if numbers and plural and noun.number == "count" and derivation.chance(0.5):
        words = (*_COUNTS, "a few") if mood is Mood.STATEMENT else _COUNTS
        return noun_phrase(
            derivation, noun, derivation.choose(words), plural=True, adjective=adjective
        )
    word = "a"
    if plural or noun.number == "mass":
        word = _INDEFINITES[mood]
    return noun_phrase(derivation, noun, word, plural=plural, adjective=adjective)


def object_complement(derivation: Derivation, verb: Verb, mood: Mood) -> Complement:
    """Draw the object of a verb, if it takes one: a noun phrase, or a name for a person."""
    if not verb.objects:
        return Complement()
    if verb.human_object and derivation.chance(0.25):
        phrase = person_name(derivation)
    else:
        phrase = object_phrase(derivation, verb, mood)
    return governed(derivation, verb, phrase)


def governed(derivation: Derivation, verb: Verb, phrase: NounPhrase) -> Complement:
    """Make a noun phrase the object, after the preposition that the verb asks for."""
    preposition = verb.italian_preposition
    bit = derivation.link() if preposition else 0
    return Complement(phrase.english, phrase.after(preposition, bit), preposition_bit=bit)


def human_phrase(derivation: Derivation) -> NounPhrase:
    """Draw somebody known: a name, or a person, profession or relative."""
    if derivation.chance(0.5):
        return person_name(derivation)
    noun = derivation.choose_new(nouns_of("human"))
    return definite_phrase(derivation, noun, adjective_rate=0)


def with_phrases(complement: Complement, *phrases: Phrase) -> Complement:
    """Append adverbials to a complement."""
    english, italian = join(complement, *phrases)
    return complement._replace(english=english, italian=italian)
