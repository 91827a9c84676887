"""Sentences about where things are: *are on the table*, *there is*, *where is*."""

from functools import cache

from dragoman.corpora.primer import english
from dragoman.corpora.primer.adverbials import at
from dragoman.corpora.primer.conjugation import conjugate
from dragoman.corpora.primer.copulas import STATE_TENSES, be_clause, finite_be
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, Tokens, join
from dragoman.corpora.primer.english import Mood, Tense
from dragoman.corpora.primer.entries import Noun, Place
from dragoman.corpora.primer.italian import agree
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.participants import (
    Subject,
    definite_phrase,
    indefinite_phrase,
    subject_of,
)
from dragoman.corpora.primer.statements import draw_mood, finished

_FAMILIAR = ("family", "spouse")
_FIXED = ("building", "outdoor", "dwelling", "room", "furniture", "fixture", "nature")
_ESSERE = conjugate("essere")
_ASKED_TENSES = (Tense.PRESENT, Tense.PRESENT, Tense.PRESENT, Tense.PAST)


def location(derivation: Derivation) -> Sentence:
    """Derive pairs like *My keys are on the table*, *Le mie chiavi sono sul tavolo*."""
    place, noun = _place_and_resident(derivation, ())
    subject = subject_of(derivation, definite_phrase(derivation, noun, adjective_rate=0))
    tense, mood = _tense_for(derivation, noun), draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, at(derivation, place), tense, mood), mood)


def existence(derivation: Derivation) -> Sentence:
    """Derive pairs like *There are two cats in the garden*, *Ci sono due gatti in giardino*."""
    place, noun = _place_and_resident(derivation, _FAMILIAR)
    tense, mood = _tense_for(derivation, noun), draw_mood(derivation)
    phrase = indefinite_phrase(derivation, noun, mood)
    bit = derivation.link()
    there = Subject((("there", bit),), (), phrase.person, phrase.gender, phrase.plural, bit)
    predicate = join(phrase, at(derivation, place))
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


def here_is(derivation: Derivation) -> Sentence:
    """Derive pairs like *Here are the keys*, *Ecco le chiavi*."""
    noun = derivation.choose(_presentable())
    thing = definite_phrase(derivation, noun, demonstratives=False)
    here = derivation.pair("here are" if thing.plural else "here is", "ecco")
    return Sentence(*join(here, thing))


def this_is(derivation: Derivation) -> Sentence:
    """Derive pairs like *These are my shoes*, *Queste sono le mie scarpe*."""
    noun = derivation.choose(_presentable())
    if noun.noun_class not in _FAMILIAR and derivation.chance(0.4):
        thing = indefinite_phrase(derivation, noun, Mood.STATEMENT, numbers=False)
    else:
        thing = definite_phrase(derivation, noun, demonstratives=False)
    bit = derivation.link()
    questo = agree("questo", thing.gender, thing.plural)
    this = Subject(
        (("these" if thing.plural else "this", bit),),
        ((questo, bit),),
        thing.person,
        thing.gender,
        thing.plural,
        derivation.link(),
    )
    return Sentence(*be_clause(derivation, this, thing, Tense.PRESENT, Mood.STATEMENT))


def _tense_for(derivation: Derivation, noun: Noun) -> Tense:
    """Draw a tense; what does not move is where it is."""
    return Tense.PRESENT if noun.noun_class in _FIXED else derivation.choose(STATE_TENSES)


def _place_and_resident(
    derivation: Derivation, excluded_classes: tuple[str, ...]
) -> tuple[Place, Noun]:
    place = derivation.choose(_inhabited_places())
    noun = derivation.choose(_residents(place, excluded_classes))
    derivation.combine("noun-place", noun.key, place.key)
    return place, noun


@cache
def _residents(place: Place, excluded_classes: tuple[str, ...]) -> tuple[Noun, ...]:
    return tuple(one for one in place.residents if one.noun_class not in excluded_classes)


@cache
def _inhabited_places() -> tuple[Place, ...]:
    return tuple(place for place in lexicon().places if _residents(place, _FAMILIAR))


@cache
def _findable() -> tuple[Noun, ...]:
    excluded = ("insect", "body", "language", "subject", "notion", "meal", "unique")
    return tuple(noun for noun in lexicon().nouns if noun.noun_class not in excluded)


@cache
def _presentable() -> tuple[Noun, ...]:
    return tuple(noun for noun in _findable() if noun.noun_class != "event")
