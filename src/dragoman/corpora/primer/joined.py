"""Sentences of two clauses: joined by *and*, *because*, *that*, or a relative clause."""

from functools import cache

from dragoman.corpora.primer.clauses import clause
from dragoman.corpora.primer.conjugation import conjugate
from dragoman.corpora.primer.copulas import be_clause
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, join
from dragoman.corpora.primer.english import THIRD_SINGULAR, Mood, Tense
from dragoman.corpora.primer.entries import Noun, Verb
from dragoman.corpora.primer.italian import Gender
from dragoman.corpora.primer.lexicon import lexicon, nouns_of
from dragoman.corpora.primer.noun_phrases import (
    NounPhrase,
    attributive,
    described_nouns,
    noun_phrase,
    person_name,
)
from dragoman.corpora.primer.participants import (
    Complement,
    Subject,
    definite_phrase,
    human_subject,
    is_plural,
    pronoun_subject,
    subject_of,
)
from dragoman.corpora.primer.tables import LexiconError, read_table

_SHORT_LIVED = ("fruits", "vegetable", "dish", "staple", "ingredient", "drink", "meal")
_SAYING = (("says that", "dice che"), ("knows that", "sa che"))


def buy_and_use(derivation: Derivation) -> Sentence:
    """Derive pairs like *She buys an apple and eats it*, *Compra una mela e la mangia*."""
    first, second, noun = derivation.choose(_sequences())
    derivation.combine("verb-object", first.key, noun.key)
    derivation.combine("verb-object", second.key, noun.key)
    subject = human_subject(derivation, nouns_of("person", "profession"))
    plural = noun.number == "count" and derivation.chance(0.4)
    thing = noun_phrase(derivation, noun, derivation.choose(("the", "a")), plural=plural)
    tense = derivation.choose((Tense.PRESENT, Tense.PAST, Tense.FUTURE))
    unclear = (first.same_past or second.same_past) and subject.person != THIRD_SINGULAR
    tense = Tense.FUTURE if unclear else tense
    opening = clause(
        derivation, subject, first, tense, Mood.STATEMENT, Complement(thing.english, thing.italian)
    )
    pronoun = _pronoun(derivation, thing.gender, plural)
    bit = derivation.link()
    again = Subject((), (), subject.person, subject.gender, subject.plural, bit)
    closing = clause(derivation, again, second, tense, Mood.STATEMENT, pronoun)
    if tense is Tense.FUTURE:  # she will buy it and read it: one *will* is enough
        closing = Phrase(closing.english[1:], closing.italian)
    return Sentence(*join(opening, derivation.pair("and", "e"), closing))


def _pronoun(derivation: Derivation, gender: Gender, plural: bool) -> Complement:
    word = ("le" if gender == "f" else "li") if plural else ("la" if gender == "f" else "lo")
    bit = derivation.link()
    english = "them" if plural else "it"
    return Complement(((english, bit),), (), ((word, bit),), (gender, plural))


def because(derivation: Derivation) -> Sentence:
    """Derive pairs like *I am eating because I am hungry*, *Sto mangiando perché ho fame*."""
    verb, english_reason, italian_reason = derivation.choose(_reasons())
    first, bit = pronoun_subject(derivation), derivation.link()
    second = first._replace(english=((first.english[0][0], bit),), verb_bit=bit)
    tense = derivation.choose((Tense.PRESENT, Tense.PROGRESSIVE, Tense.PAST))
    opening = clause(derivation, first, verb, tense, Mood.STATEMENT, Complement())
    reason_tense = Tense.PRESENT if tense is Tense.PROGRESSIVE else tense
    reason = derivation.pair(english_reason, italian_reason)
    closing = be_clause(
        derivation, second, reason, reason_tense, Mood.STATEMENT, conjugate("avere")
    )
    return Sentence(*join(opening, derivation.pair("because", "perché"), closing))


def relative(derivation: Derivation) -> Sentence:
    """Derive pairs like *the book that I bought is long*, *il libro che ho comprato è lungo*."""
    verb, things = derivation.choose(_relative_verbs())
    noun = derivation.choose(things)
    derivation.combine("verb-object", verb.key, noun.key)
    adjective = derivation.choose(attributive(noun.key))
    derivation.combine("adjective-noun", adjective.key, noun.key)
    plural = is_plural(derivation, noun, 0.3)
    thing = noun_phrase(derivation, noun, "the", plural=plural)
    reader = pronoun_subject(derivation)
    stranded = Complement(preposition_bit=reader.verb_bit)
    inner = clause(derivation, reader, verb, Tense.PAST, Mood.STATEMENT, stranded)
    words = join(thing, derivation.pair("that", "che"), inner)
    bit = derivation.link()
    subject = Subject(*words, thing.person, thing.gender, plural, bit)
    predicate = derivation.pair(adjective.english, adjective.form(thing.gender, plural))
    mood = Mood.NEGATION if derivation.chance(0.2) else Mood.STATEMENT
    tense = Tense.PAST if noun.noun_class in _SHORT_LIVED else Tense.PRESENT
    return Sentence(*be_clause(derivation, subject, predicate, tense, mood))


def reported(derivation: Derivation) -> Sentence:
    """Derive pairs like *Anna says that the soup is cold*, *Anna dice che la zuppa è fredda*."""
    noun = derivation.choose(described_nouns())
    speaker = subject_of(derivation, _speaker(derivation, noun))
    saying = derivation.pair(*derivation.choose(_SAYING))
    adjective = derivation.choose(lexicon().adjectives_of[noun.key])
    derivation.combine("adjective-noun", adjective.key, noun.key)
    subject = subject_of(derivation, definite_phrase(derivation, noun, adjective_rate=0))
    predicate = derivation.pair(adjective.english, adjective.form(subject.gender, subject.plural))
    phrase = be_clause(derivation, subject, predicate, Tense.PRESENT, Mood.STATEMENT)
    return Sentence(*join(speaker, saying, phrase))


def _speaker(derivation: Derivation, about: Noun) -> NounPhrase:
    """Draw who speaks about something else."""
    speaker = derivation.choose(nouns_of("person", "profession"))
    if speaker is about or derivation.chance(0.6):
        return person_name(derivation)
    return noun_phrase(derivation, speaker, "the")


@cache
def _sequences() -> tuple[tuple[Verb, Verb, Noun], ...]:
    found: list[tuple[Verb, Verb, Noun]] = []
    for row in read_table("sequences.tsv"):
        first, second = _verb(row["first"]), _verb(row["second"])
        shared = tuple(
            one
            for one in first.objects
            if one in second.objects and one.number in ("count", "mass")
        )
        if not shared:
            raise LexiconError(f"sequences.tsv: {row['first']} and {row['second']} share no object")
        found.extend((first, second, noun) for noun in shared)
    return tuple(found)


@cache
def _reasons() -> tuple[tuple[Verb, str, str], ...]:
    return tuple(
        (_verb(row["verb"]), row["english"], row["italian"]) for row in read_table("reasons.tsv")
    )


def _verb(english: str) -> Verb:
    return next(verb for verb in lexicon().verbs if verb.english.infinitive == english)


@cache
def _relative_verbs() -> tuple[tuple[Verb, tuple[Noun, ...]], ...]:
    found = []
    for verb in lexicon().verbs:
        plain = not verb.italian_preposition and verb.human_subject and verb.aspect != "state"
        things = tuple(
            noun
            for noun in verb.objects
            if noun.number in ("count", "mass", "plural")
            and attributive(noun.key)
            and "human" not in noun.groups
        )
        if plain and things and not verb.frame:
            found.append((verb, things))
    return tuple(found)
