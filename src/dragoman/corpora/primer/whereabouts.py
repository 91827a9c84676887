"""Sentences about where things are: *are on the table*, *there is*, *where is*."""

from functools import cache

from . import english
from .adverbials import at
from .conjugation import conjugate
from .copulas import STATE_TENSES, be_clause, finite_be
from .derivation import Derivation, Phrase, Sentence, Tokens
from .english import Tense
from .entries import Noun, Place
from .lexicon import lexicon
from .participants import Subject, definite_phrase, indefinite_phrase, subject_of
from .statements import draw_mood, finished

_ESSERE = conjugate("essere")
_ASKED_TENSES = (Tense.PRESENT, Tense.PRESENT, Tense.PRESENT, Tense.PAST)


def location(derivation: Derivation) -> Sentence:
    """Derive pairs like *My keys are on the table*, *Le mie chiavi sono sul tavolo*."""
    place, noun = _place_and_resident(derivation)
    subject = subject_of(derivation, definite_phrase(derivation, noun, adjective_rate=0))
    tense, mood = derivation.choose(STATE_TENSES), draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, at(derivation, place), tense, mood), mood)


def existence(derivation: Derivation) -> Sentence:
    """Derive pairs like *There are two cats in the garden*, *Ci sono due gatti in giardino*."""
    place, noun = _place_and_resident(derivation)
    tense, mood = derivation.choose(STATE_TENSES), draw_mood(derivation)
    phrase = indefinite_phrase(derivation, noun, mood)
    bit = derivation.link()
    there = Subject(
        (("there", bit),), (), 5 if phrase.plural else 2, phrase.gender, phrase.plural, bit
    )
    where = at(derivation, place)
    predicate = Phrase(phrase.english + where.english, phrase.italian + where.italian)
    clause = be_clause(derivation, there, predicate, tense, mood)
    return finished(Phrase(clause.english, _with_ci(clause.italian, bit)), mood)


def _with_ci(tokens: Tokens, bit: int) -> Tokens:
    """Put *ci* before the verb: *c'è*, *c'erano*, *non ci sono*."""
    at_verb = next(i for i, (_, mask) in enumerate(tokens) if mask == bit)
    particle = "c'" if tokens[at_verb][0][0] in "eè" else "ci"
    return (*tokens[:at_verb], (particle, bit), *tokens[at_verb:])


def where_is(derivation: Derivation) -> Sentence:
    """Derive pairs like *Where are my keys?*, *Dove sono le mie chiavi?*."""
    noun = derivation.choose(_findable())
    subject = subject_of(derivation, definite_phrase(derivation, noun))
    tense = derivation.choose(_ASKED_TENSES)
    where_bit, bit = derivation.link(), subject.verb_bit
    finite = finite_be(_ESSERE, subject.person, tense)
    where = "dov'" if finite[0] in "eè" else "dove"
    return Sentence(
        (("where", where_bit), (english.be(subject.person, tense), bit), *subject.english),
        ((where, where_bit), (finite, bit), *subject.italian),
        "?",
    )


def _place_and_resident(derivation: Derivation) -> tuple[Place, Noun]:
    place = derivation.choose(_inhabited_places())
    noun = derivation.choose(place.residents)
    derivation.combine("noun-place", noun.key, place.key)
    return place, noun


@cache
def _inhabited_places() -> tuple[Place, ...]:
    return tuple(place for place in lexicon().places if place.residents)


@cache
def _findable() -> tuple[Noun, ...]:
    excluded = ("fruit", "insect", "body", "language", "subject", "idea", "meal", "sky", "beast")
    return tuple(noun for noun in lexicon().nouns if noun.noun_class not in excluded)
