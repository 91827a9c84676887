"""Questions with how: how many, how much, how is somebody."""

from functools import cache

from dragoman.corpora.primer import english
from dragoman.corpora.primer.conjugation import conjugate
from dragoman.corpora.primer.derivation import Derivation, Sentence, join
from dragoman.corpora.primer.english import Tense
from dragoman.corpora.primer.entries import Noun
from dragoman.corpora.primer.lexicon import nouns_of, verbs_where
from dragoman.corpora.primer.noun_phrases import noun_phrase, person_name
from dragoman.corpora.primer.participants import (
    ASKED,
    Complement,
    asked_subject,
    definite_phrase,
    pronoun_subject,
    subject_of,
)
from dragoman.corpora.primer.questions import asked_about, verbs_with_things


def how_many(derivation: Derivation) -> Sentence:
    """Derive pairs like *How many books did you read?*, *Quanti libri hai letto?*."""
    verb = derivation.choose(_verbs_with_countable_things())
    noun = derivation.choose(tuple(one for one in verb.objects if _countable(one)))
    derivation.combine("verb-object", verb.key, noun.key)
    subject = asked_subject(derivation, verb)
    how_many = derivation.pair("how many", "quante" if noun.plural_gender == "f" else "quanti")
    asked = join(how_many, derivation.pair(noun.english[1], noun.italian[1]))
    stranded = Complement(preposition_bit=subject.verb_bit)
    return asked_about(derivation, asked, verb, subject, stranded)


def how_much(derivation: Derivation) -> Sentence:
    """Derive pairs like *How much does this hat cost?*, *Quanto costa questo cappello?*."""
    noun = derivation.choose(_goods())
    derivation.combine("verb-object", "cost", noun.key)
    thing = definite_phrase(derivation, noun)
    bit, verb_bit = derivation.link(), derivation.link()
    does, costa = ("do", "costano") if thing.plural else ("does", "costa")
    return Sentence(
        (("how much", bit), (does, verb_bit), *thing.english, ("cost", verb_bit)),
        (("quanto", bit), (costa, verb_bit), *thing.italian),
        "?",
    )


def how_is(derivation: Derivation) -> Sentence:
    """Derive pairs like *How is your mother?*, *Come sta tua madre?*."""
    if derivation.chance(0.3):
        subject = subject_of(derivation, person_name(derivation))
    elif derivation.chance(0.3):
        subject = pronoun_subject(derivation, ASKED)
    else:
        noun = derivation.choose(nouns_of("family", "spouse", "acquaintance"))
        owner = "my" if noun.noun_class == "spouse" else derivation.choose(("my", "your", "their"))
        subject = subject_of(derivation, noun_phrase(derivation, noun, owner))
    bit, verb_bit = derivation.link(), subject.verb_bit
    sta = conjugate("stare").present[subject.person]
    return Sentence(
        (("how", bit), (english.be(subject.person, Tense.PRESENT), verb_bit), *subject.english),
        (("come", bit), (sta, verb_bit), *subject.italian),
        "?",
    )


def _countable(noun: Noun) -> bool:
    return noun.number == "count" and "human" not in noun.groups


@cache
def _goods() -> tuple[Noun, ...]:
    prints = "book novel newspaper magazine dictionary postcard"
    classes = "fruits vegetable dish staple drink clothing jewel device object container furniture"
    return nouns_of(*classes.split(), "instrument", "vehicle", *prints.split())


_verbs_with_countable_things = verbs_where(
    lambda verb: verb in verbs_with_things() and any(map(_countable, verb.objects))
)
