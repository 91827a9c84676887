"""Golden clauses: auxiliaries, agreement of participles, clitics, negation, dropped pronouns."""

from random import Random

import pytest

from dragoman.corpora.primer.clauses import clause
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence
from dragoman.corpora.primer.english import Mood, Tense
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.participants import Complement, Subject, pronouns
from dragoman.corpora.primer.spelling import spell

STATEMENT, NEGATION, QUESTION = Mood.STATEMENT, Mood.NEGATION, Mood.QUESTION
NOTHING = Complement()


def verb(english: str, italian: str) -> Verb:
    return next(
        one
        for one in lexicon().verbs
        if one.english.infinitive == english and one.infinitive == italian
    )


def pronoun(derivation: Derivation, english: str) -> Subject:
    one = next(p for p in pronouns() if p.english == english)
    bit = derivation.link()
    return Subject(((english, bit),), (), one.person, one.gender, one.plural, bit)


def spelled(phrase: Phrase, mark: str = ".") -> str:
    english, italian, _ = spell(Sentence(phrase.english, phrase.italian, mark))
    return f"{english} = {italian}"


CLAUSES = [
    ("I", "work", "lavorare", Tense.PRESENT, STATEMENT, "", "I work. = Lavoro."),
    ("she", "work", "lavorare", Tense.PRESENT, NEGATION, "", "She doesn't work. = Non lavora."),
    ("you", "work", "lavorare", Tense.PRESENT, QUESTION, "", "Do you work. = Lavori."),
    (
        "they",
        "sleep",
        "dormire",
        Tense.PROGRESSIVE,
        STATEMENT,
        "",
        "They are sleeping. = Stanno dormendo.",
    ),
    ("she", "sleep", "dormire", Tense.PAST, STATEMENT, "", "She slept. = Ha dormito."),
    ("she", "leave", "partire", Tense.PAST, STATEMENT, "", "She left. = È partita."),
    ("we", "leave", "partire", Tense.PAST, NEGATION, "", "We didn't leave. = Non siamo partiti."),
    ("he", "leave", "partire", Tense.FUTURE, NEGATION, "", "He won't leave. = Non partirà."),
    ("I", "get up", "alzarsi", Tense.PRESENT, STATEMENT, "", "I get up. = Mi alzo."),
    ("she", "get up", "alzarsi", Tense.PAST, STATEMENT, "", "She got up. = Si è alzata."),
    (
        "they",
        "get up",
        "alzarsi",
        Tense.FUTURE,
        NEGATION,
        "",
        "They won't get up. = Non si alzeranno.",
    ),
    ("he", "live", "abitare", Tense.PAST, STATEMENT, "", "He lived. = Abitava."),
    (
        "she",
        "leave",
        "partire",
        Tense.PERFECT,
        STATEMENT,
        "already",
        "She has already left. = È già partita.",
    ),
    ("I", "laugh", "ridere", Tense.PRESENT, STATEMENT, "often", "I often laugh. = Rido spesso."),
    (
        "he",
        "laugh",
        "ridere",
        Tense.PRESENT,
        STATEMENT,
        "never",
        "He never laughs. = Non ride mai.",
    ),
    (
        "I",
        "have breakfast",
        "fare colazione",
        Tense.PRESENT,
        STATEMENT,
        "always",
        "I always have breakfast. = Faccio sempre colazione.",
    ),
]


@pytest.mark.parametrize(
    ("subject", "english", "italian", "tense", "mood", "adverb", "expected"), CLAUSES
)
def test_tense_and_mood(
    subject: str, english: str, italian: str, tense: Tense, mood: Mood, adverb: str, expected: str
) -> None:
    derivation = Derivation(Random(1))
    phrase = clause(
        derivation,
        pronoun(derivation, subject),
        verb(english, italian),
        tense,
        mood,
        NOTHING,
        adverb,
    )
    assert spelled(phrase) == expected


CLITICS = [
    ("her", Tense.PRESENT, STATEMENT, "I see her. = La vedo."),
    ("him", Tense.PRESENT, NEGATION, "I don't see him. = Non lo vedo."),
    ("her", Tense.PAST, STATEMENT, "I saw her. = L'ho vista."),
    ("him", Tense.PAST, NEGATION, "I didn't see him. = Non l'ho visto."),
    ("them", Tense.PAST, STATEMENT, "I saw them. = Li ho visti."),
    ("you", Tense.PAST, STATEMENT, "I saw you. = Ti ho visto."),
    ("you", Tense.FUTURE, STATEMENT, "I will see you. = Ti vedrò."),
]


@pytest.mark.parametrize(("pronoun_object", "tense", "mood", "expected"), CLITICS)
def test_object_pronouns_go_before_the_verb_and_participles_agree_with_lo_and_la(
    pronoun_object: str, tense: Tense, mood: Mood, expected: str
) -> None:
    derivation = Derivation(Random(1))
    one = next(p for p in pronouns() if p.english_object == pronoun_object)
    bit = derivation.link()
    agreement = (one.gender, one.plural) if one.accusative in ("lo", "la", "li") else None
    complement = Complement(((pronoun_object, bit),), (), ((one.accusative, bit),), agreement)
    subject = pronoun(derivation, "I")
    phrase = clause(derivation, subject, verb("see", "vedere"), tense, mood, complement)
    assert spelled(phrase) == expected
