"""Words are found in a translation by what is alike in their own translation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.markup.resemblance import find_alike


def found(whole: str, text: str, *, source: str = "x" * 99, middle: float = 0.5) -> list[str]:
    stretches = find_alike(whole, text, source=source, middle=middle)
    return [whole[start:end] for start, end in stretches]


@pytest.mark.parametrize(
    ("whole", "text", "source", "expected"),
    [
        ("Il gatto è sul tavolo.", "gatto", "cat", "gatto"),
        ("Vedo le mele rosse.", "mela rossa", "red apples", "mele rosse"),  # other endings
        ("Vedo una mela.", "Le mele.", "apple", "mela"),  # another article
        ("Vedo il gatto e il cane.", "Il cane", "the dog", "il cane"),  # not the other article
        ("Mia sorella dorme.", "Quella sorella ha cominciato?", "sister", "sorella"),  # too much
        (
            "Una macchina rossa e bella.",
            "rossa macchina",
            "red car",
            "macchina rossa",
        ),  # another order
        ("Ha già visto l'ufficio.", "Ha visto", "has seen", "Ha già visto"),  # a word between
        ("È L'UOMO.", "l'uomo", "the man", "L'UOMO"),
        ("Il gatto, gatto!", "il gatto", "the cat", "Il gatto"),  # each word once
    ],
)
def test_the_stretch_that_is_most_alike_is_found(
    whole: str, text: str, source: str, expected: str
) -> None:
    assert found(whole, text, source=source) == [expected]


@pytest.mark.parametrize(
    ("whole", "text"),
    [
        ("Vedo il gatto.", "cane"),
        ("Vedo il gatto.", ""),
        ("Vedo il gatto.", "?!"),
        ("", "gatto"),
        ("Va al mare.", "mai la"),  # two letters in common are none
        ("Il gatto è qui.", "il cane rosso dorme sul tavolo"),  # a small part of it
        ("Il " + "gatto " * 40, "gatto " * 40),  # too long
        ("猫は古い本を見ます。", "猫"),
    ],
)
def test_what_resembles_nothing_is_not_found(whole: str, text: str) -> None:
    assert found(whole, text) == []


def test_of_two_that_are_as_good_the_nearest_is_taken() -> None:
    whole = "Il gatto vede un gatto."
    places = [find_alike(whole, "gatto", source="cat", middle=at / 10) for at in range(11)]

    assert places == [[(3, 8)]] * 6 + [[(17, 22)]] * 5


WORDS = st.lists(st.sampled_from(["il", "la", "gatto", "gatta", "gatti", "mela", "e", "'", "."]))


@given(WORDS.map(" ".join), WORDS.map(" ".join), st.text("ab "), st.floats(0, 1))
def test_what_is_found_begins_and_ends_with_words(
    whole: str, text: str, source: str, middle: float
) -> None:
    for stretch in found(whole, text, source=source, middle=middle):
        assert stretch[0].isalpha()
        assert stretch[-1].isalpha() or stretch[-1] == "'"


@given(WORDS.filter(lambda words: any(map(str.isalpha, words))).map(" ".join))
def test_a_text_is_found_in_itself(text: str) -> None:
    words = [word for word in text.split() if word.isalpha()]
    if len(words) <= 20:
        (stretch,) = found(text, text, source=text)
        assert len(stretch.split()) >= len(words)


@pytest.mark.parametrize(
    ("whole", "part"),
    [("वह किताब पढ़ता है", "त"), ("او می\u200cبیند", "می"), ("il ca\u0300ne", "ne")],
)
def test_a_part_of_a_word_with_marks_or_joiners_is_no_word(whole: str, part: str) -> None:
    assert found(whole, part, source="x") == []
