import pytest

from dragoman.corpora.primer.english import (
    EnglishVerb,
    Mood,
    Tense,
    auxiliary_and_verb,
    be,
    indefinite_article,
    negated,
)

WRITE = EnglishVerb(
    infinitive="write",
    third_singular="writes",
    past="wrote",
    participle="written",
    gerund="writing",
)

FORMS = [
    (0, Tense.PRESENT, Mood.STATEMENT, "write"),
    (2, Tense.PRESENT, Mood.STATEMENT, "writes"),
    (5, Tense.PRESENT, Mood.STATEMENT, "write"),
    (2, Tense.PRESENT, Mood.NEGATION, "doesn't write"),
    (1, Tense.PRESENT, Mood.NEGATION, "don't write"),
    (2, Tense.PRESENT, Mood.QUESTION, "does write"),
    (2, Tense.PAST, Mood.STATEMENT, "wrote"),
    (2, Tense.PAST, Mood.NEGATION, "didn't write"),
    (3, Tense.PAST, Mood.QUESTION, "did write"),
    (0, Tense.PROGRESSIVE, Mood.STATEMENT, "am writing"),
    (0, Tense.PROGRESSIVE, Mood.NEGATION, "am not writing"),
    (2, Tense.PROGRESSIVE, Mood.NEGATION, "isn't writing"),
    (5, Tense.PROGRESSIVE, Mood.QUESTION, "are writing"),
    (2, Tense.FUTURE, Mood.STATEMENT, "will write"),
    (2, Tense.FUTURE, Mood.NEGATION, "won't write"),
    (2, Tense.PERFECT, Mood.STATEMENT, "has written"),
    (3, Tense.PERFECT, Mood.STATEMENT, "have written"),
]


@pytest.mark.parametrize(("person", "tense", "mood", "expected"), FORMS)
def test_verbs_take_do_be_will_or_have(
    person: int, tense: Tense, mood: Mood, expected: str
) -> None:
    assert " ".join(filter(None, auxiliary_and_verb(WRITE, person, tense, mood))) == expected


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("apple", "an"),
        ("egg", "an"),
        ("orange", "an"),
        ("umbrella", "an"),
        ("honest", "an"),
        ("hour", "an"),
        ("Italian", "an"),
        ("uniform", "a"),
        ("university", "a"),
        ("useful", "a"),
        ("useless", "a"),
        ("house", "a"),
        ("yellow", "a"),
        ("ugly", "an"),
    ],
)
def test_a_or_an_follows_the_sound(word: str, article: str) -> None:
    assert indefinite_article(word) == article


def test_be_agrees_with_its_subject() -> None:
    assert [be(person, Tense.PRESENT) for person in range(6)] == [
        *("am", "are", "is", "are", "are", "are")
    ]
    assert [be(person, Tense.PAST) for person in range(6)] == [
        *("was", "were", "was", "were", "were", "were")
    ]
    assert be(2, Tense.FUTURE) == "will be"


def test_negations_are_contracted() -> None:
    assert negated("was") == "wasn't"
    assert negated("will be") == "won't be"
    assert negated("can") == "can't"
    assert negated("must") == "mustn't"
