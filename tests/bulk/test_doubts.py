"""A text that is not what should be translated is noticed, and no other."""

import pytest

from dragoman.bulk.doubts import FEWEST_CHARACTERS, Doubts
from dragoman.terms.glossary import Glossary

ENGLISH = "The old man with the hat was looking for his dog in the garden behind the house. "
ITALIAN = "Il vecchio con il cappello cercava il suo cane nel giardino che sta dietro la casa. "


def warnings(*texts: str, language: str = "en", glossary: Glossary | None = None) -> list[str]:
    doubts = Doubts(language, glossary)
    for text in texts:
        doubts.look_at(text)
    return doubts.warnings()


def test_most_of_a_text_decides_in_which_language_it_is() -> None:
    assert warnings(*[ENGLISH] * 30) == []
    assert warnings(*[ENGLISH] * 20, *[ITALIAN] * 10) == []
    assert warnings(*[ITALIAN] * 20, *[ENGLISH] * 10) == [
        "the text seems to be Italian (it), and the model translates from English (en)"
    ]


def test_tags_are_not_what_a_text_is_judged_by() -> None:
    tags = '<span class="the name of that text" title="this and what they should be">{}</span>'
    assert warnings(*[tags.format(ITALIAN)] * 40, language="it") == []


@pytest.mark.parametrize("language", ["it", "it_IT", "qaa"])
def test_the_language_of_the_model_and_one_that_is_not_known_are_not_doubted(language: str) -> None:
    assert warnings(*[ITALIAN] * 30, language=language) == []


def test_the_language_of_a_short_text_is_not_guessed() -> None:
    short = ITALIAN * (FEWEST_CHARACTERS // len(ITALIAN))
    assert warnings(short) == []
    assert len(warnings(short, ITALIAN)) == 1


def test_a_glossary_is_doubted_too_and_looked_for_behind_where_the_language_is_clear() -> None:
    glossary = Glossary({"valve": ("valvola",)}, languages=("en", "it"))
    doubts = Doubts("en", glossary)
    assert all(doubts.look_at(ITALIAN) for _ in range(500))
    assert [warning.split()[0] for warning in doubts.warnings()] == ["the", "no"]

    assert doubts.look_at("A valve.")
    assert not doubts.look_at("A valve.")
    assert len(doubts.warnings()) == 1
