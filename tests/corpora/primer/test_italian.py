"""Golden tables of Italian articles and agreement, worked by hand."""

import pytest

from dragoman.corpora.primer import italian
from dragoman.corpora.primer.italian import Gender

ARTICLES: list[tuple[str, Gender, bool, str]] = [
    ("libro", "m", False, "il"),
    ("libri", "m", True, "i"),
    ("sole", "m", False, "il"),
    ("sindaco", "m", False, "il"),
    ("studente", "m", False, "lo"),
    ("studenti", "m", True, "gli"),
    ("specchio", "m", False, "lo"),
    ("sciatore", "m", False, "lo"),
    ("zaino", "m", False, "lo"),
    ("zii", "m", True, "gli"),
    ("gnomo", "m", False, "lo"),
    ("psicologo", "m", False, "lo"),
    ("psicologi", "m", True, "gli"),
    ("xilofono", "m", False, "lo"),
    ("yogurt", "m", False, "lo"),
    ("amico", "m", False, "l'"),
    ("amici", "m", True, "gli"),
    ("uovo", "m", False, "l'"),
    ("hotel", "m", False, "l'"),
    ("casa", "f", False, "la"),
    ("case", "f", True, "le"),
    ("zia", "f", False, "la"),
    ("scuola", "f", False, "la"),
    ("amica", "f", False, "l'"),
    ("amiche", "f", True, "le"),
    ("isola", "f", False, "l'"),
    ("uova", "f", True, "le"),
]

INDEFINITE: list[tuple[str, Gender, str]] = [
    ("libro", "m", "un"),
    ("amico", "m", "un"),
    ("uomo", "m", "un"),
    ("zaino", "m", "uno"),
    ("studente", "m", "uno"),
    ("psicologo", "m", "uno"),
    ("yogurt", "m", "uno"),
    ("casa", "f", "una"),
    ("zia", "f", "una"),
    ("amica", "f", "un'"),
    ("isola", "f", "un'"),
]

ARTICULATED = {
    "di": ["del", "dello", "dell'", "dei", "degli", "della", "delle"],
    "a": ["al", "allo", "all'", "ai", "agli", "alla", "alle"],
    "da": ["dal", "dallo", "dall'", "dai", "dagli", "dalla", "dalle"],
    "in": ["nel", "nello", "nell'", "nei", "negli", "nella", "nelle"],
    "su": ["sul", "sullo", "sull'", "sui", "sugli", "sulla", "sulle"],
    "con": ["con il", "con lo", "con l'", "con i", "con gli", "con la", "con le"],
}

BEFORE_NOUN: list[tuple[str, Gender, bool, str, str, str]] = [
    # next word, gender, plural, bello, quello, buono
    ("libro", "m", False, "bel", "quel", "buon"),
    ("amico", "m", False, "bell'", "quell'", "buon"),
    ("studente", "m", False, "bello", "quello", "buono"),
    ("zaino", "m", False, "bello", "quello", "buono"),
    ("libri", "m", True, "bei", "quei", "buoni"),
    ("amici", "m", True, "begli", "quegli", "buoni"),
    ("studenti", "m", True, "begli", "quegli", "buoni"),
    ("casa", "f", False, "bella", "quella", "buona"),
    ("isola", "f", False, "bell'", "quell'", "buona"),
    ("case", "f", True, "belle", "quelle", "buone"),
    ("isole", "f", True, "belle", "quelle", "buone"),
]


@pytest.mark.parametrize(("word", "gender", "plural", "article"), ARTICLES)
def test_the_definite_article_follows_the_sound_of_the_next_word(
    word: str, gender: Gender, plural: bool, article: str
) -> None:
    assert italian.definite_article(word, gender, plural) == article


@pytest.mark.parametrize(("word", "gender", "article"), INDEFINITE)
def test_the_indefinite_article_follows_the_sound_of_the_next_word(
    word: str, gender: Gender, article: str
) -> None:
    assert italian.indefinite_article(word, gender) == article


@pytest.mark.parametrize("preposition", ARTICULATED)
def test_prepositions_join_their_article(preposition: str) -> None:
    articles = ["il", "lo", "l'", "i", "gli", "la", "le"]
    joined = [italian.articulated(preposition, article) for article in articles]
    assert joined == ARTICULATED[preposition]


@pytest.mark.parametrize(("word", "gender", "plural", "bello", "quello", "buono"), BEFORE_NOUN)
def test_adjectives_before_a_noun_change_like_articles(
    word: str, gender: Gender, plural: bool, bello: str, quello: str, buono: str
) -> None:
    assert italian.bello(word, gender, plural) == bello
    assert italian.quello(word, gender, plural) == quello
    assert italian.buono(word, gender, plural) == buono


def test_some_is_the_preposition_di_with_the_article() -> None:
    assert italian.partitive("pane", "m", False) == "del"
    assert italian.partitive("zucchero", "m", False) == "dello"
    assert italian.partitive("acqua", "f", False) == "dell'"
    assert italian.partitive("amici", "m", True) == "degli"


def test_a_takes_a_d_before_another_a() -> None:
    assert italian.euphonic("a", "Anna") == "ad"
    assert italian.euphonic("a", "aprile") == "ad"
    assert italian.euphonic("a", "Elena") == "a"
    assert italian.euphonic("di", "Anna") == "di"


def test_participles_agree_in_gender_and_number() -> None:
    forms = [italian.agree("visto", g, plural) for plural in (False, True) for g in ("m", "f")]
    assert forms == ["visto", "vista", "visti", "viste"]
