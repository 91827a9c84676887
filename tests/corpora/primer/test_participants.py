from random import Random

import pytest

from dragoman.corpora.primer.derivation import Derivation
from dragoman.corpora.primer.english import Mood
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.participants import known_object, object_complement, subject_for


def verb(italian: str, object_key: str) -> Verb:
    return next(
        one
        for one in lexicon().verbs
        if one.infinitive == italian and object_key in {noun.key for noun in one.objects}
    )


@pytest.mark.parametrize(
    ("italian", "with_article"),
    [("parlare", False), ("insegnare", False), ("studiare", False), ("imparare", True)],
)
def test_languages_lose_their_article_after_verbs_of_schooling(
    italian: str, with_article: bool
) -> None:
    random, one = Random(1), verb(italian, "Greek")
    phrases = [known_object(Derivation(random), one) for _ in range(300)]
    articles = {phrase.article for phrase in phrases if phrase.english[-1][0] == "Greek"}
    assert articles == {"il" if with_article else ""}


def test_nobody_does_something_to_the_same_noun() -> None:
    random, one = Random(2), verb("giocare", "child")
    for _ in range(2_000):
        derivation = Derivation(random)
        subject = subject_for(derivation, one)
        complement = object_complement(derivation, one, Mood.STATEMENT)
        assert subject.english[-1][0] != complement.english[-1][0]
