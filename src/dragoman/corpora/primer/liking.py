"""The verb *like*, which Italian turns round: what is liked is the subject of *piacere*."""

from functools import cache

from dragoman.corpora.primer import english
from dragoman.corpora.primer.clauses import in_order
from dragoman.corpora.primer.conjugation import conjugate
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, Tokens, non, token
from dragoman.corpora.primer.english import EnglishVerb, Mood, Tense
from dragoman.corpora.primer.entries import Noun
from dragoman.corpora.primer.italian import agree
from dragoman.corpora.primer.lexicon import lexicon, nouns_of, verbs_where
from dragoman.corpora.primer.noun_phrases import NounPhrase, noun_phrase, person_name
from dragoman.corpora.primer.participants import Subject, definite_phrase, pronouns
from dragoman.corpora.primer.statements import draw_mood, finished

_PIACERE = conjugate("piacere")
_ESSERE = conjugate("essere")
_LIKE = EnglishVerb(
    infinitive="like", third_singular="likes", past="liked", participle="liked", gerund="liking"
)
_LOVED_IN_GENERAL = (
    *("pet", "beast", "fruits", "vegetable", "dish", "staple", "drink", "clothing", "jewel"),
    *("instrument", "event", "work"),
)
_SPECIFIC_TENSES = (Tense.PRESENT,) * 3 + (Tense.PAST,) * 2 + (Tense.FUTURE,)


def like_thing(derivation: Derivation) -> Sentence:
    """Derive pairs like *I like cats*, *Mi piacciono i gatti*."""
    noun = derivation.choose(_likeable())
    derivation.combine("verb-object", "like", noun.key)
    tense = Tense.PRESENT
    if noun.noun_class in _LOVED_IN_GENERAL and derivation.chance(0.6):
        plural = noun.number in ("count", "plural")
        thing = noun_phrase(derivation, noun, "generic", plural=plural)
    else:
        thing = definite_phrase(derivation, noun)
        if noun.number == "count":
            tense = derivation.choose(_SPECIFIC_TENSES)
    return _like(derivation, thing, tense)


def like_doing(derivation: Derivation) -> Sentence:
    """Derive pairs like *Anna likes swimming*, *Ad Anna piace nuotare*."""
    verb = derivation.choose(_pastimes())
    bit = derivation.link()
    doing = verb.english.gerund
    thing = NounPhrase(((doing, bit),), "", 0, ((verb.infinitive, bit),), "m", False)
    return _like(derivation, thing, Tense.PRESENT)


def _like(derivation: Derivation, thing: NounPhrase, tense: Tense) -> Sentence:
    bit = derivation.link()
    liker = _liker(derivation, bit)
    mood = draw_mood(derivation, liker)
    negation_bit = derivation.link() if mood is Mood.NEGATION else 0
    negation, name = non(negation_bit), liker.italian
    before = negation + name if liker.verb_bit else name + negation
    auxiliary, form = english.auxiliary_and_verb(_LIKE, liker.person, tense, mood)
    start = in_order(liker.english, token(auxiliary, bit | negation_bit), mood)
    phrase = Phrase(
        (*start, (form, bit), *thing.english),
        (*before, (_piacere(thing, tense), bit), *thing.italian),
    )
    return finished(phrase, mood)


def _piacere(thing: NounPhrase, tense: Tense) -> str:
    if tense is Tense.PAST:
        participle = agree(_PIACERE.participle, thing.gender, thing.plural)
        return f"{_ESSERE.present[thing.person]} {participle}"
    forms = _PIACERE.future if tense is Tense.FUTURE else _PIACERE.present
    return forms[thing.person]


def _liker(derivation: Derivation, bit: int) -> Subject:
    """Draw who likes. A pronoun is linked by ``verb_bit``; a noun phrase, which has 0, by *a*."""
    if derivation.chance(0.6):
        one = derivation.choose(pronouns())
        italian: Tokens = ((one.dative, bit),)
        return Subject(((one.english, bit),), italian, one.person, one.gender, one.plural, bit)
    if derivation.chance(0.6):
        phrase = person_name(derivation)
    else:
        phrase = definite_phrase(derivation, derivation.choose(nouns_of("human")), adjective_rate=0)
    name = phrase.after("a", bit)
    return Subject(phrase.english, name, phrase.person, phrase.gender, phrase.plural, 0)


@cache
def _likeable() -> tuple[Noun, ...]:
    excluded = ("ingredient", "body", "spouse", "family", "person", "profession", "meal")
    return tuple(noun for noun in lexicon().nouns if noun.noun_class not in excluded)


_pastimes = verbs_where(lambda verb: verb.pastime)
