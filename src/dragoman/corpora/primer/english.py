"""English articles and the forms of verbs with their auxiliaries."""

from dataclasses import dataclass
from enum import Enum

THIRD_SINGULAR = 2
"""Persons are counted from 0 (I, we are 3) to 5 (they); 1 is a single *you*."""

_SOUNDS_LIKE_CONSONANT = ("uni", "use", "euro", "one")
_SOUNDS_LIKE_VOWEL = ("hour", "honest", "heir")


class Tense(Enum):
    """The tenses; Italian's past is the passato prossimo, or the imperfetto of states."""

    PRESENT = "present"
    PROGRESSIVE = "progressive"
    PAST = "past"
    FUTURE = "future"
    PERFECT = "perfect"


class Mood(Enum):
    """What a clause does with its content."""

    STATEMENT = "statement"
    NEGATION = "negation"
    QUESTION = "question"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnglishVerb:
    """The forms of a verb, with its particle if it has one: *turns on*."""

    infinitive: str
    third_singular: str
    past: str
    participle: str
    gerund: str


def indefinite_article(next_word: str) -> str:
    """Return a or an, by the sound of the next word.

    >>> [indefinite_article(word) for word in ("apple", "uniform", "honest", "car")]
    ['an', 'a', 'an', 'a']
    """
    lower = next_word.lower()
    if lower.startswith(_SOUNDS_LIKE_CONSONANT):
        return "a"
    if lower.startswith(_SOUNDS_LIKE_VOWEL):
        return "an"
    return "an" if lower[0] in "aeiou" else "a"


def be(person: int, tense: Tense) -> str:
    """Return the form of *be* for a person counted from 0 (I) to 5 (they); 1 is a single *you*."""
    if tense is Tense.PAST:
        return "was" if person in (0, THIRD_SINGULAR) else "were"
    if tense is Tense.FUTURE:
        return "will be"
    return {0: "am", THIRD_SINGULAR: "is"}.get(person, "are")


def negated(auxiliary: str) -> str:
    """Contract an auxiliary with *not*.

    >>> negated("is"), negated("am"), negated("will be")
    ("isn't", 'am not', "won't be")
    """
    first, space, rest = auxiliary.partition(" ")
    contracted = {"am": "am not", "will": "won't", "can": "can't"}.get(first, first + "n't")
    return contracted + space + rest


def auxiliary_and_verb(verb: EnglishVerb, person: int, tense: Tense, mood: Mood) -> tuple[str, str]:
    """Return the auxiliary, or nothing, and the form of the main verb.

    The subject stands before the auxiliary, in questions between the auxiliary and the verb.
    """
    if mood is Mood.STATEMENT and tense in (Tense.PRESENT, Tense.PAST):
        return "", _simple(verb, person, tense)
    auxiliary, form = _periphrastic(verb, person, tense)
    return (negated(auxiliary) if mood is Mood.NEGATION else auxiliary), form


def _simple(verb: EnglishVerb, person: int, tense: Tense) -> str:
    if tense is Tense.PAST:
        return verb.past
    return verb.third_singular if person == THIRD_SINGULAR else verb.infinitive


def _periphrastic(verb: EnglishVerb, person: int, tense: Tense) -> tuple[str, str]:
    third = person == THIRD_SINGULAR
    if tense is Tense.PRESENT:
        return "does" if third else "do", verb.infinitive
    if tense is Tense.PAST:
        return "did", verb.infinitive
    if tense is Tense.PROGRESSIVE:
        return be(person, tense), verb.gerund
    if tense is Tense.PERFECT:
        return "has" if third else "have", verb.participle
    return "will", verb.infinitive
