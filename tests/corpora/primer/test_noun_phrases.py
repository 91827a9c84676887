"""Golden noun phrases: article, possessive, adjective and noun must agree."""

from random import Random

import pytest

from dragoman.corpora.primer.derivation import Derivation, Sentence
from dragoman.corpora.primer.entries import Adjective, Noun
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.noun_phrases import NounPhrase, noun_phrase, possessed
from dragoman.corpora.primer.spelling import spell


def noun(key: str) -> Noun:
    return next(one for one in lexicon().nouns if one.key == key)


def adjective(italian: str) -> Adjective:
    return next(one for one in lexicon().adjectives if one.italian == italian)


def texts(phrase: NounPhrase) -> tuple[str, str]:
    english, italian, _ = spell(Sentence(phrase.english, phrase.italian, ""))
    return english.lower(), italian.lower()


PHRASES = [
    # noun, determiner, plural, adjective, English, Italian
    ("student", "the", False, None, "the student", "lo studente"),
    ("uncle", "the", True, None, "the uncles", "gli zii"),
    ("friend", "the", False, None, "the friend", "l'amico"),
    ("island", "a", False, None, "an island", "un'isola"),
    ("backpack", "a", False, None, "a backpack", "uno zaino"),
    ("backpack", "a", True, None, "some backpacks", "degli zaini"),
    ("egg", "the", True, None, "the eggs", "le uova"),
    ("finger", "my", True, None, "my fingers", "le mie dita"),
    ("milk", "a", False, None, "some milk", "del latte"),
    ("sugar", "any", False, None, "any sugar", "dello zucchero"),
    ("sugar", "no", False, None, "any sugar", "zucchero"),
    ("cat", "generic", True, None, "cats", "i gatti"),
    ("dinner", "the", False, None, "dinner", "la cena"),
    ("mother", "my", False, None, "my mother", "mia madre"),
    ("mother", "their", False, None, "their mother", "la loro madre"),
    ("brother", "my", True, None, "my brothers", "i miei fratelli"),
    ("brother", "our", False, None, "our brother", "nostro fratello"),
    ("brother", "my", False, "alto", "my tall brother", "il mio fratello alto"),
    ("book", "his", False, None, "his book", "il suo libro"),
    ("house", "her", False, None, "her house", "la sua casa"),
    ("house", "their", False, None, "their house", "la loro casa"),
    ("friend", "your", True, None, "your friends", "i tuoi amici"),
    ("tree", "that", False, None, "that tree", "quell'albero"),
    ("student", "those", True, None, "those students", "quegli studenti"),
    ("student", "these", True, None, "these students", "questi studenti"),
    ("man", "this", False, None, "this man", "quest'uomo"),
    ("book", "a few", True, None, "a few books", "alcuni libri"),
    ("book", "three", True, None, "three books", "tre libri"),
    ("house", "many", True, None, "many houses", "molte case"),
    ("tree", "a", False, "bello", "a beautiful tree", "un bell'albero"),
    ("tree", "the", True, "bello", "the beautiful trees", "i begli alberi"),
    ("girl", "a", False, "bello", "a beautiful girl", "una bella ragazza"),
    ("wine", "a", False, "buono", "some good wine", "del buon vino"),
    ("idea", "a", False, "buono", "a good idea", "una buona idea"),
    ("backpack", "the", False, "nuovo", "the new backpack", "il nuovo zaino"),
    ("backpack", "the", False, "verde", "the green backpack", "lo zaino verde"),
    ("friend", "a", False, "italiano", "an Italian friend", "un amico italiano"),
    ("shirt", "the", True, "bianco", "the white shirts", "le camicie bianche"),
    ("bag", "the", True, "rosa", "the pink bags", "le borse rosa"),
    ("artist", "the", True, "egoista", "the selfish artists", "gli artisti egoisti"),
]


@pytest.mark.parametrize(
    ("key", "determiner", "plural", "quality", "english", "italian"),
    PHRASES,
)
def test_determiner_adjective_and_noun_agree(
    key: str, determiner: str, plural: bool, quality: str | None, english: str, italian: str
) -> None:
    phrase = noun_phrase(
        Derivation(Random(1)),
        noun(key),
        determiner,
        plural=plural,
        adjective=adjective(quality) if quality else None,
    )
    assert texts(phrase) == (english.lower(), italian.lower())


def test_a_preposition_joins_the_article_of_its_phrase() -> None:
    derivation = Derivation(Random(1))
    market = noun_phrase(derivation, noun("market"), "the")
    mother = noun_phrase(derivation, noun("mother"), "my")
    book = noun_phrase(derivation, noun("book"), "my")
    joined = [
        " ".join(text for text, _ in phrase.after(preposition, derivation.link()))
        for phrase, preposition in [(market, "a"), (mother, "di"), (book, "in"), (market, "con")]
    ]
    assert joined == ["al mercato", "di mia madre", "nel mio libro", "con il mercato"]


def test_a_partitive_disappears_after_di() -> None:
    derivation = Derivation(Random(1))
    phrases = [
        noun_phrase(derivation, noun("key"), "a", plural=True),
        noun_phrase(derivation, noun("sugar"), "any"),
        noun_phrase(derivation, noun("key"), "the", plural=True),
    ]
    after_di = [" ".join(text for text, _ in phrase.after("di", 0)) for phrase in phrases]
    assert after_di == ["di chiavi", "di zucchero", "delle chiavi"]


def test_the_owner_follows_in_italian() -> None:
    derivation = Derivation(Random(1))
    owner = noun_phrase(derivation, noun("teacher"), "the")
    thing = noun_phrase(derivation, noun("bag"), "the", plural=True)
    assert texts(possessed(derivation, owner, thing)) == (
        "the teacher's bags",
        "le borse dell'insegnante",
    )
