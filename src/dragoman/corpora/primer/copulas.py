"""Sentences with *be* about somebody or something: qualities, professions, feelings, age."""

from functools import cache

from dragoman.corpora.primer import english, italian
from dragoman.corpora.primer.clauses import in_order
from dragoman.corpora.primer.conjugation import Conjugation, conjugate
from dragoman.corpora.primer.derivation import (
    Bilingual,
    Derivation,
    Phrase,
    Sentence,
    join,
    non,
    token,
)
from dragoman.corpora.primer.english import Mood, Tense
from dragoman.corpora.primer.entries import Adjective, Noun
from dragoman.corpora.primer.lexicon import lexicon, nouns_of
from dragoman.corpora.primer.noun_phrases import described_nouns, person_name
from dragoman.corpora.primer.participants import (
    Subject,
    definite_phrase,
    pronoun_subject,
    subject_of,
)
from dragoman.corpora.primer.statements import draw_mood, finished
from dragoman.corpora.primer.tables import read_table

_OF_ANY_AGE = ("brother", "sister", "son", "daughter", "cousin", "nephew")
_ESSERE = conjugate("essere")
_AVERE = conjugate("avere")
STATE_TENSES = (Tense.PRESENT,) * 5 + (Tense.PAST,) * 2 + (Tense.FUTURE,)


def be_clause(
    derivation: Derivation,
    subject: Subject,
    predicate: Bilingual,
    tense: Tense,
    mood: Mood,
    verb: Conjugation = _ESSERE,
) -> Phrase:
    """Build a clause with *be* and a predicate; Italian may use another verb, as in *ho fame*."""
    negation_bit = derivation.link() if mood is Mood.NEGATION else 0
    form = english.be(subject.person, tense)
    if negation_bit:
        form = english.negated(form)
    bit = subject.verb_bit
    auxiliary, _, main = form.partition(" ")  # *will be*
    start = in_order(subject.english, token(auxiliary, bit | negation_bit), mood)
    finite = finite_be(verb, subject.person, tense)
    return Phrase(
        (*start, *token(main, bit | negation_bit), *predicate.english),
        (*subject.italian, *non(negation_bit), (finite, bit), *predicate.italian),
    )


def finite_be(verb: Conjugation, person: int, tense: Tense) -> str:
    """Return the form for a state: its past is the imperfetto."""
    if tense is Tense.PAST:
        return verb.imperfect[person]
    return verb.future[person] if tense is Tense.FUTURE else verb.present[person]


def quality(derivation: Derivation) -> Sentence:
    """Derive pairs like *The soup was cold*, *La zuppa era fredda*."""
    if derivation.chance(0.25):
        return _quality_of_person(derivation)
    if derivation.chance(0.5):
        noun = derivation.choose(described_nouns())
        adjective = derivation.choose(lexicon().adjectives_of[noun.key])
    else:
        adjective = derivation.choose(lexicon().adjectives)
        noun = derivation.choose(adjective.nouns)
    derivation.combine("adjective-noun", adjective.key, noun.key)
    subject = subject_of(derivation, definite_phrase(derivation, noun, adjective_rate=0))
    tense, mood = _tense_for(derivation, adjective), draw_mood(derivation, subject)
    predicate = _agreeing(derivation, subject, adjective, "")
    return finished(be_clause(derivation, subject, predicate, tense, mood), mood)


def _quality_of_person(derivation: Derivation) -> Sentence:
    if derivation.chance(0.6):
        subject = pronoun_subject(derivation)
    else:
        subject = subject_of(derivation, person_name(derivation))
    adjective = derivation.choose(lexicon().people_adjectives)
    tense, mood = _tense_for(derivation, adjective), draw_mood(derivation, subject)
    very = "very" if adjective.comparative and derivation.chance(0.4) else ""
    predicate = _agreeing(derivation, subject, adjective, very)
    return finished(be_clause(derivation, subject, predicate, tense, mood), mood)


def _tense_for(derivation: Derivation, adjective: Adjective) -> Tense:
    """Draw a tense; only what comes and goes has a future."""
    if adjective.changing:
        return derivation.choose(STATE_TENSES)
    return Tense.PAST if adjective.comparative and derivation.chance(0.2) else Tense.PRESENT


def _agreeing(
    derivation: Derivation, subject: Subject, adjective: Adjective, degree: str
) -> Phrase:
    form = adjective.form(subject.gender, subject.plural)
    predicate = derivation.pair(adjective.english, form)
    if not degree:
        return predicate
    return join(derivation.pair(degree, "molto"), predicate)


def profession(derivation: Derivation) -> Sentence:
    """Derive pairs like *My sister is a nurse*, *Mia sorella è infermiera*."""
    if derivation.chance(0.5):
        subject = subject_of(derivation, person_name(derivation))
    else:
        kin = derivation.choose(nouns_of("family", "spouse"))
        subject = subject_of(derivation, definite_phrase(derivation, kin))
    noun = derivation.choose(_professions(subject.gender))
    if subject.plural:
        return quality(derivation)
    feminine = subject.gender == "f" and noun.gender == "m"
    title = noun.feminine if feminine else noun.italian[0]
    article = english.indefinite_article(noun.english[0])
    predicate = derivation.pair(f"{article} {noun.english[0]}", title)
    tense, mood = derivation.choose(STATE_TENSES), draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, predicate, tense, mood), mood)


def feeling(derivation: Derivation) -> Sentence:
    """Derive pairs like *Is Anna hungry?*, *Anna ha fame?*."""
    row = derivation.choose(read_table("feelings.tsv"))
    subject = _somebody(derivation, ("family", "spouse"))
    predicate = derivation.pair(row["english"], row["italian"])
    tense, mood = derivation.choose(STATE_TENSES), draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, predicate, tense, mood, _AVERE), mood)


def age(derivation: Derivation) -> Sentence:
    """Derive pairs like *My son is seven years old*, *Mio figlio ha sette anni*."""
    number = derivation.choose(read_table("numbers.tsv"))
    subject = _somebody(derivation, _OF_ANY_AGE)
    years = italian.before_vowel(number["italian"], "anni")
    predicate = derivation.pair(f"{number['english']} years old", years)
    mood = draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, predicate, Tense.PRESENT, mood, _AVERE), mood)


def _somebody(derivation: Derivation, kin: tuple[str, ...]) -> Subject:
    if derivation.chance(0.4):
        return pronoun_subject(derivation)
    if derivation.chance(0.4):
        return subject_of(derivation, person_name(derivation))
    return subject_of(derivation, definite_phrase(derivation, derivation.choose(nouns_of(*kin))))


@cache
def _professions(gender: str) -> tuple[Noun, ...]:
    nouns = nouns_of("profession")
    if gender == "m":
        return tuple(noun for noun in nouns if noun.gender == "m")
    return tuple(noun for noun in nouns if noun.gender == "f" or noun.feminine)
